#include <stdint.h>

#define PTE_VALID 0x001u
#define PTE_WRITE 0x002u
#define PTE_HUGE 0x080u /* directory entries only */

/* Provided: the 4 bytes at a physical address that is a multiple of 4. */
uint32_t phys_read(uint32_t paddr);

int walk(uint32_t directory, uint32_t vaddr, int write, uint32_t *paddr);

int walk(uint32_t directory, uint32_t vaddr, int write, uint32_t *paddr)
{
    uint32_t high = vaddr >> 22;
    uint32_t middle = (vaddr >> 12) & 0x3FF;

    uint32_t pde = phys_read(directory + high);
    if (!(pde & PTE_VALID))
        return 1;
    if (pde & PTE_HUGE) {
        if (write && !(pde & PTE_WRITE))
            return 3;
        *paddr = (pde & 0xFFC00000u) | (vaddr & 0x003FFFFFu);
        return 0;
    }

    uint32_t pte = phys_read((pde & 0xFFFFF000u) + middle);
    if (!(pte & PTE_VALID))
        return 2;
    if (write && !(pde & pte & PTE_WRITE))
        return 3;
    *paddr = (pte & 0xFFFFF000u) | (vaddr & 0xFFFu);
    return 0;
}
