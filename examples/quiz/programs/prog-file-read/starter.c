#include <stdint.h>
#include <string.h>

#define BLOCK_SIZE 512u

/* Provided: read one disk block; 0, or -1 if it fails. */
int read_block(uint32_t block, unsigned char data[BLOCK_SIZE]);

long file_read(const uint32_t map[], uint32_t size, uint32_t offset, void *buf, uint32_t count);

/* Read up to `count` bytes at `offset`; the number of bytes, or -1. */
long file_read(const uint32_t map[], uint32_t size, uint32_t offset, void *buf, uint32_t count)
{
    /* 在此填写 / your code here */
    (void)map, (void)size, (void)offset, (void)buf, (void)count;
    return -1;
}
