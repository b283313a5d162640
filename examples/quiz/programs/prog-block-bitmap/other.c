#include <stddef.h>
#include <stdint.h>

long bitmap_alloc(uint8_t map[], size_t blocks, size_t run);
int bitmap_release(uint8_t map[], size_t blocks, size_t first, size_t run);

struct bit {
    uint8_t *byte;
    uint8_t mask;
};

static struct bit bit_of(uint8_t *map, size_t block)
{
    return (struct bit){map + (block >> 3), (uint8_t)(1 << (block & 7))};
}

/* How many of the `max` blocks from `from` on are equal to `used` before one differs. */
static size_t same(uint8_t *map, size_t from, size_t max, int used)
{
    size_t n = 0;
    while (n < max) {
        struct bit bit = bit_of(map, from + n);
        if (((*bit.byte & bit.mask) != 0) != used)
            break;
        n++;
    }
    return n;
}

static void flip(uint8_t *map, size_t from, size_t n)
{
    for (size_t end = from + n; from < end; from++) {
        struct bit bit = bit_of(map, from);
        *bit.byte ^= bit.mask;
    }
}

long bitmap_alloc(uint8_t map[], size_t blocks, size_t run)
{
    size_t at = 0;
    if (!run || run > blocks)
        return -1;
    while (at <= blocks - run) {
        size_t free_here = same(map, at, run, 0);
        if (free_here == run) {
            flip(map, at, run);
            return (long)at;
        }
        at += free_here + 1; /* the block behind the gap is used */
    }
    return -1;
}

int bitmap_release(uint8_t map[], size_t blocks, size_t first, size_t run)
{
    if (!run || run > blocks || first > blocks - run)
        return -1;
    if (same(map, first, run, 1) < run)
        return -1;
    flip(map, first, run);
    return 0;
}
