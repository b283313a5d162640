#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define PTE_VALID 0x001u
#define PTE_WRITE 0x002u
#define PTE_HUGE 0x080u /* directory entries only */

/* Provided: the 4 bytes at a physical address that is a multiple of 4. */
uint32_t phys_read(uint32_t paddr);

int walk(uint32_t directory, uint32_t vaddr, int write, uint32_t *paddr);

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

enum { FRAMES = 8 };
static uint32_t memory[FRAMES * 1024];
static int reads, bad_reads;

uint32_t phys_read(uint32_t paddr)
{
    reads++;
    if (paddr % 4 != 0 || paddr / 4 >= FRAMES * 1024) {
        bad_reads++;
        return 0;
    }
    return memory[paddr / 4];
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    /* Directory in frame 3, tables in frames 1 and 5. */
    const uint32_t directory = 0x3000;
    uint32_t *dir = memory + 3 * 1024, *low = memory + 1 * 1024, *high = memory + 5 * 1024;
    dir[2] = 0x1000u | PTE_VALID | PTE_WRITE;
    dir[1023] = 0x5000u | PTE_VALID;
    dir[4] = 0x5000u | PTE_WRITE; /* not valid */
    dir[7] = 0x00C00000u | PTE_VALID | PTE_HUGE;
    dir[8] = 0x40000000u | PTE_VALID | PTE_WRITE | PTE_HUGE;
    low[5] = 0x1F000u | PTE_VALID | PTE_WRITE;
    low[6] = 0x20000u | PTE_VALID;
    low[1023] = 0xABCDE000u | PTE_VALID | PTE_WRITE | PTE_HUGE; /* this bit means nothing here */
    high[1023] = 0x7000u | PTE_VALID | PTE_WRITE;
    uint32_t p = 0x12345678;

    check("the book's address", 0, walk(directory, 0x00805A3C, 0, &p));
    check("physical address", 0x1FA3C, p);
    check("two reads", 2, reads);
    check("write", 0, walk(directory, 0x00805000, 1, &p));
    check("offset 0", 0x1F000, p);
    check("last entry of a table", 0, walk(directory, 0x00BFFFFF, 0, &p));
    check("last entry of a table, address", 0xABCDEFFFu, p);
    check("last page of all", 0, walk(directory, 0xFFFFF123, 0, &p));
    check("last page of all, address", 0x7123, p);

    p = 0x12345678;
    reads = 0;
    check("empty directory entry", 1, walk(directory, 0x00000123, 0, &p));
    check("directory entry not valid", 1, walk(directory, 0x01000123, 1, &p));
    check("the table is not read", 2, reads);
    check("table entry not valid", 2, walk(directory, 0x00807000, 0, &p));
    check("table entry not valid, write", 2, walk(directory, 0x00807000, 1, &p));
    check("page not writable", 3, walk(directory, 0x00806010, 1, &p));
    check("directory entry not writable", 3, walk(directory, 0xFFFFF123, 1, &p));
    check("huge page not writable", 3, walk(directory, 0x01C00010, 1, &p));
    check("faults leave paddr alone", 0x12345678, p);

    check("page can be read", 0, walk(directory, 0x00806010, 0, &p));
    check("page can be read, address", 0x20010, p);
    reads = 0;
    check("huge page", 0, walk(directory, 0x01F56789, 0, &p));
    check("22 bits of offset", 0x00F56789, p);
    check("one read", 1, reads);
    check("write to a huge page", 0, walk(directory, 0x023FFFFF, 1, &p));
    check("its last byte", 0x403FFFFF, p);
    check("reads outside memory or not aligned", 0, bad_reads);
    return failures;
}
