#include <stdint.h>

#define PTE_VALID 0x001u
#define PTE_WRITE 0x002u
#define PTE_HUGE 0x080u /* directory entries only */

/* Provided: the 4 bytes at a physical address that is a multiple of 4. */
uint32_t phys_read(uint32_t paddr);

int walk(uint32_t directory, uint32_t vaddr, int write, uint32_t *paddr);

int walk(uint32_t directory, uint32_t vaddr, int write, uint32_t *paddr)
{
    uint32_t table = directory, allowed = PTE_WRITE, entry = 0;
    int shift = 32;
    for (int level = 1; level <= 2; level++) {
        shift -= 10;
        uint32_t index = vaddr >> shift & 1023;
        entry = phys_read(table + index * (uint32_t)sizeof entry);
        if ((entry & PTE_VALID) == 0)
            return level;
        allowed &= entry;
        if (level == 1 && entry & PTE_HUGE)
            break;
        table = entry & ~0xFFFu;
    }
    if (write && !allowed)
        return 3;
    uint32_t inside = (1u << shift) - 1; /* 12 or 22 bits */
    *paddr = (entry & ~inside) | (vaddr & inside);
    return 0;
}
