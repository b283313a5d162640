#include <stddef.h>
#include <stdint.h>

long bitmap_alloc(uint8_t map[], size_t blocks, size_t run);
int bitmap_release(uint8_t map[], size_t blocks, size_t first, size_t run);

/* Allocate the first `run` consecutive free blocks; the first of them, or -1. */
long bitmap_alloc(uint8_t map[], size_t blocks, size_t run)
{
    /* 在此填写 / your code here */
    (void)map, (void)blocks, (void)run;
    return -1;
}

/* Free `run` blocks from `first` on; 0, or -1 with nothing changed. */
int bitmap_release(uint8_t map[], size_t blocks, size_t first, size_t run)
{
    /* 在此填写 / your code here */
    (void)map, (void)blocks, (void)first, (void)run;
    return -1;
}
