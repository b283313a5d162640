#include <stdint.h>
#include <string.h>

#define BLOCK_SIZE 512u

/* Provided: read one disk block; 0, or -1 if it fails. */
int read_block(uint32_t block, unsigned char data[BLOCK_SIZE]);

long file_read(const uint32_t map[], uint32_t size, uint32_t offset, void *buf, uint32_t count);

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

long file_read(const uint32_t map[], uint32_t size, uint32_t offset, void *buf, uint32_t count)
{
    char *to = buf;
    uint32_t wanted = offset < size ? smaller(count, size - offset) : 0;
    uint32_t left = wanted;
    const uint32_t *entry = map + offset / BLOCK_SIZE;

    /* Only the first block begins in the middle. */
    for (uint32_t skip = offset % BLOCK_SIZE; left > 0; skip = 0, entry++) {
        unsigned char data[BLOCK_SIZE] = {0};
        uint32_t n = smaller(left, BLOCK_SIZE - skip);
        if (*entry && read_block(*entry, data) == -1)
            return -1;
        memcpy(to, &data[skip], n);
        to += n;
        left -= n;
    }
    return (long)wanted;
}
