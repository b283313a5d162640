#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

long bitmap_alloc(uint8_t map[], size_t blocks, size_t run);
int bitmap_release(uint8_t map[], size_t blocks, size_t first, size_t run);

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
    uint8_t map[3] = {0x07, 0x21, 0xF0}; /* blocks 0-2, 8 and 13 are used; 20 blocks, four bits over */
    check("first free block", 3, bitmap_alloc(map, 20, 1));
    check("byte 0", 0x0F, map[0]);
    check("run of 4 at the end of a byte", 4, bitmap_alloc(map, 20, 4));
    check("byte 0 full", 0xFF, map[0]);
    check("byte 1 as before", 0x21, map[1]);
    check("run of 6 across bytes", 14, bitmap_alloc(map, 20, 6));
    check("byte 1, bits 6 and 7", 0xE1, map[1]);
    check("byte 2, the bits left over as before", 0xFF, map[2]);
    check("run of 5 does not fit", -1, bitmap_alloc(map, 20, 5));
    check("a failure changes nothing", 0xE1, map[1]);
    check("run of 4", 9, bitmap_alloc(map, 20, 4));
    check("disk full", -1, bitmap_alloc(map, 20, 1));

    check("release across bytes", 0, bitmap_release(map, 20, 6, 4));
    check("byte 0 after the release", 0x3F, map[0]);
    check("byte 1 after the release", 0xFC, map[1]);
    check("double free", -1, bitmap_release(map, 20, 6, 1));
    check("partly free, at the end", -1, bitmap_release(map, 20, 4, 3));
    check("partly free, at the start", -1, bitmap_release(map, 20, 9, 2));
    check("errors leave byte 0 alone", 0x3F, map[0]);
    check("errors leave byte 1 alone", 0xFC, map[1]);
    check("beyond the end", -1, bitmap_release(map, 20, 19, 2));
    check("start at the end", -1, bitmap_release(map, 20, 20, 1));
    check("range that overflows", -1, bitmap_release(map, 20, 18, SIZE_MAX));
    check("errors leave byte 2 alone", 0xFF, map[2]);
    check("last block", 0, bitmap_release(map, 20, 19, 1));
    check("only its bit", 0xF7, map[2]);
    check("run of 0, alloc", -1, bitmap_alloc(map, 20, 0));
    check("run of 0, release", -1, bitmap_release(map, 20, 12, 0));

    uint8_t tail[2] = {0xFF, 0x01}; /* 11 blocks: 9 and 10 are free, five bits left over */
    check("the bits left over are no blocks", -1, bitmap_alloc(tail, 11, 3));
    check("two are free", 9, bitmap_alloc(tail, 11, 2));
    check("nothing is free behind the end", -1, bitmap_alloc(tail, 11, 1));
    check("the bits left over stay 0", 0x07, tail[1]);
    check("run longer than the disk", -1, bitmap_alloc(tail, 11, 12));
    return failures;
}
