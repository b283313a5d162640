#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define FAT_FREE 0x0000u
#define FAT_END 0xFFFFu

enum { NO_BLOCK = -1, DAMAGED = -2 };

long fat_block(const uint16_t fat[], size_t entries, uint16_t first, uint32_t offset, uint32_t block_size);
long fat_append(uint16_t fat[], size_t entries, uint16_t *first);

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
    enum { N = 16 };
    uint16_t fat[N] = {0};
    fat[6] = 8, fat[8] = 3, fat[3] = 12, fat[12] = FAT_END; /* the book's example */
    fat[4] = 9, fat[9] = 10, fat[10] = 2, fat[2] = FAT_END; /* and its exercise */
    check("offset 0", 6, fat_block(fat, N, 6, 0, 1024));
    check("last byte of the first block", 6, fat_block(fat, N, 6, 1023, 1024));
    check("first byte of the second block", 8, fat_block(fat, N, 6, 1024, 1024));
    check("block 2", 3, fat_block(fat, N, 6, 2 * 1024 + 5, 1024));
    check("last block", 12, fat_block(fat, N, 6, 4095, 1024));
    check("behind the end", NO_BLOCK, fat_block(fat, N, 6, 4096, 1024));
    check("far behind the end", NO_BLOCK, fat_block(fat, N, 6, UINT32_MAX, 512));
    check("offset 2500", 10, fat_block(fat, N, 4, 2500, 1024));
    check("empty file", NO_BLOCK, fat_block(fat, N, FAT_END, 0, 1024));

    uint16_t first = 6;
    check("append, smallest free block", 1, fat_append(fat, N, &first));
    check("append, linked", 1, fat[12]);
    check("append, new end", FAT_END, fat[1]);
    check("append, first as before", 6, first);
    check("append, can be found", 1, fat_block(fat, N, 6, 4096, 1024));
    check("append again", 5, fat_append(fat, N, &first));
    uint16_t empty = FAT_END;
    check("append to an empty file", 7, fat_append(fat, N, &empty));
    check("empty file, first is set", 7, empty);
    check("empty file, end", FAT_END, fat[7]);

    fat[13] = 14; /* leads to a free block */
    check("chain into a free block", DAMAGED, fat_block(fat, N, 13, 1024, 1024));
    check("before the damage", 13, fat_block(fat, N, 13, 0, 1024));
    fat[13] = 16; /* behind the table */
    check("chain out of the table", DAMAGED, fat_block(fat, N, 13, 1024, 1024));
    uint16_t bad = 13;
    check("append to a chain out of the table", DAMAGED, fat_append(fat, N, &bad));
    check("first block out of the table", DAMAGED, fat_block(fat, N, 500, 0, 1024));
    check("first block 0", DAMAGED, fat_block(fat, N, 0, 0, 1024));
    check("damage, no block was taken", FAT_FREE, fat[11]);

    fat[13] = FAT_END, fat[11] = FAT_END, fat[14] = FAT_END, fat[15] = FAT_END;
    check("table full", NO_BLOCK, fat_append(fat, N, &first));
    check("table full, chain as before", FAT_END, fat[5]);

    uint16_t loop[4] = {0, 2, 3, 1};
    check("loop, within the limit", 2, fat_block(loop, 4, 1, 512, 512));
    check("loop", DAMAGED, fat_block(loop, 4, 1, 100 * 512, 512));
    uint16_t start = 1;
    check("append to a loop", DAMAGED, fat_append(loop, 4, &start));
    return failures;
}
