#include <stddef.h>
#include <stdint.h>

long bitmap_alloc(uint8_t map[], size_t blocks, size_t run);
int bitmap_release(uint8_t map[], size_t blocks, size_t first, size_t run);

static int is_used(const uint8_t map[], size_t b)
{
    return map[b / 8] >> (b % 8) & 1;
}

long bitmap_alloc(uint8_t map[], size_t blocks, size_t run)
{
    size_t length = 0; /* free blocks directly before and including b */
    if (run == 0)
        return -1;
    for (size_t b = 0; b < blocks; b++) {
        if (is_used(map, b)) {
            length = 0;
            continue;
        }
        length++;
        if (length == run) {
            size_t first = b + 1 - run;
            for (size_t i = first; i <= b; i++)
                map[i / 8] |= (uint8_t)(1u << (i % 8));
            return (long)first;
        }
    }
    return -1;
}

int bitmap_release(uint8_t map[], size_t blocks, size_t first, size_t run)
{
    if (run == 0 || first >= blocks || run > blocks - first)
        return -1;
    for (size_t b = first; b < first + run; b++)
        if (!is_used(map, b))
            return -1;
    for (size_t b = first; b < first + run; b++)
        map[b / 8] &= (uint8_t)~(1u << (b % 8));
    return 0;
}
