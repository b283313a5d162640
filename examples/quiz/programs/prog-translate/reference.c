#include <stdint.h>

#define PTE_VALID 0x001u
#define PTE_WRITE 0x002u
#define PTE_ACCESSED 0x020u
#define PTE_DIRTY 0x040u

enum { FAULT_RANGE = -1, FAULT_INVALID = -2, FAULT_WRITE = -3 };

int translate(uint32_t table[], uint32_t entries, uint32_t vaddr, int write, uint32_t *paddr);

int translate(uint32_t table[], uint32_t entries, uint32_t vaddr, int write, uint32_t *paddr)
{
    uint32_t page = vaddr >> 12;
    uint32_t offset = vaddr & 0xFFF;

    if (page >= entries)
        return FAULT_RANGE;
    uint32_t pte = table[page];
    if (!(pte & PTE_VALID))
        return FAULT_INVALID;
    if (write && !(pte & PTE_WRITE))
        return FAULT_WRITE;

    table[page] |= PTE_ACCESSED;
    if (write)
        table[page] |= PTE_DIRTY;
    *paddr = (pte & ~0xFFFu) | offset;
    return 0;
}
