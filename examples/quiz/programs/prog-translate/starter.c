#include <stdint.h>

#define PTE_VALID 0x001u
#define PTE_WRITE 0x002u
#define PTE_ACCESSED 0x020u
#define PTE_DIRTY 0x040u

enum { FAULT_RANGE = -1, FAULT_INVALID = -2, FAULT_WRITE = -3 };

int translate(uint32_t table[], uint32_t entries, uint32_t vaddr, int write, uint32_t *paddr);

/* Translate vaddr by a single-level page table; 0, or one of the faults. */
int translate(uint32_t table[], uint32_t entries, uint32_t vaddr, int write, uint32_t *paddr)
{
    /* 在此填写 / your code here */
    (void)table, (void)entries, (void)vaddr, (void)write, (void)paddr;
    return FAULT_INVALID;
}
