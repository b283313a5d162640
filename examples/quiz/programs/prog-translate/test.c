#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PTE_VALID 0x001u
#define PTE_WRITE 0x002u
#define PTE_ACCESSED 0x020u
#define PTE_DIRTY 0x040u

enum { FAULT_RANGE = -1, FAULT_INVALID = -2, FAULT_WRITE = -3 };

int translate(uint32_t table[], uint32_t entries, uint32_t vaddr, int write, uint32_t *paddr);

static int failures;

/* One line for each case: `ok NAME` or `FAIL NAME: what was expected, what came`. */
static void check(const char *name, long long want, long long got)
{
    if (want == got) {
        printf("ok %s\n", name);
    } else {
        printf("FAIL %s: expected %lld, got %lld\n", name, want, got);
        failures++;
    }
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    enum { ENTRIES = 4 };
    uint32_t *table = malloc(ENTRIES * sizeof *table); /* so that the sanitizer sees a read behind it */
    if (table == NULL)
        return 1;
    table[0] = 0;
    table[1] = 0x00003000u | PTE_VALID;
    table[2] = 0x00009000u | PTE_VALID | PTE_WRITE;
    table[3] = 0xFFFFF000u | PTE_VALID | PTE_WRITE | 0x004u;
    uint32_t p = 0x12345678;

    check("read page 2", 0, translate(table, ENTRIES, 0x2ABC, 0, &p));
    check("physical address", 0x9ABC, p);
    check("accessed, not dirty", 0x9000u | PTE_VALID | PTE_WRITE | PTE_ACCESSED, table[2]);
    check("write page 2", 0, translate(table, ENTRIES, 0x2000, 1, &p));
    check("offset 0", 0x9000, p);
    check("accessed and dirty", 0x9000u | PTE_VALID | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY, table[2]);
    check("read again", 0, translate(table, ENTRIES, 0x2FFF, 0, &p));
    check("largest offset", 0x9FFF, p);
    check("dirty stays", 1, (table[2] & PTE_DIRTY) != 0);

    p = 0x12345678;
    check("invalid page", FAULT_INVALID, translate(table, ENTRIES, 0x0010, 0, &p));
    check("invalid page, write", FAULT_INVALID, translate(table, ENTRIES, 0x0010, 1, &p));
    check("invalid entry unchanged", 0, table[0]);
    check("write to a read-only page", FAULT_WRITE, translate(table, ENTRIES, 0x1004, 1, &p));
    check("read-only entry unchanged", 0x3000u | PTE_VALID, table[1]);
    check("first page behind the table", FAULT_RANGE, translate(table, ENTRIES, 0x4000, 0, &p));
    check("last page of the address space", FAULT_RANGE, translate(table, ENTRIES, 0xFFFFFFFF, 1, &p));
    check("faults leave paddr alone", 0x12345678, p);

    check("read the read-only page", 0, translate(table, ENTRIES, 0x1004, 0, &p));
    check("address in the read-only page", 0x3004, p);
    check("highest frame", 0, translate(table, ENTRIES, 0x3FFF, 1, &p));
    check("address in the highest frame", 0xFFFFFFFFu, p);
    check("other bits stay", 0xFFFFF000u | PTE_VALID | PTE_WRITE | 0x004u | PTE_ACCESSED | PTE_DIRTY, table[3]);
    check("empty table", FAULT_RANGE, translate(table, 0, 0, 0, &p));
    free(table);
    return failures;
}
