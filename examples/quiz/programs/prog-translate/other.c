#include <stdint.h>

#define PTE_VALID 0x001u
#define PTE_WRITE 0x002u
#define PTE_ACCESSED 0x020u
#define PTE_DIRTY 0x040u

enum { FAULT_RANGE = -1, FAULT_INVALID = -2, FAULT_WRITE = -3 };

int translate(uint32_t table[], uint32_t entries, uint32_t vaddr, int write, uint32_t *paddr);

enum { PAGE = 4096 };

int translate(uint32_t table[], uint32_t entries, uint32_t vaddr, int write, uint32_t *paddr)
{
    const uint32_t number = vaddr / PAGE;
    int result = 0;
    if (number < entries) {
        uint32_t *entry = &table[number];
        uint32_t needed = write ? PTE_VALID | PTE_WRITE : PTE_VALID;
        if ((*entry & needed) == needed) {
            uint32_t frame = *entry / PAGE;
            *paddr = frame * PAGE + vaddr % PAGE;
            *entry |= write ? PTE_ACCESSED | PTE_DIRTY : PTE_ACCESSED;
        } else {
            result = *entry & PTE_VALID ? FAULT_WRITE : FAULT_INVALID;
        }
    } else {
        result = FAULT_RANGE;
    }
    return result;
}
