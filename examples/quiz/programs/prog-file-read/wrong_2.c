#include <stdint.h>
#include <string.h>

#define BLOCK_SIZE 512u

/* Provided: read one disk block; 0, or -1 if it fails. */
int read_block(uint32_t block, unsigned char data[BLOCK_SIZE]);

long file_read(const uint32_t map[], uint32_t size, uint32_t offset, void *buf, uint32_t count);

long file_read(const uint32_t map[], uint32_t size, uint32_t offset, void *buf, uint32_t count)
{
    unsigned char block[BLOCK_SIZE];
    unsigned char *out = buf;
    uint32_t done = 0;

    if (offset >= size)
        return 0;
    if (count > size - offset)
        count = size - offset;
    while (done < count) {
        uint32_t index = (offset + done) / BLOCK_SIZE;
        uint32_t inside = (offset + done) % BLOCK_SIZE;
        uint32_t part = BLOCK_SIZE;
        if (part > count - done)
            part = count - done;
        if (map[index] == 0) {
            memset(out + done, 0, part);
        } else {
            if (read_block(map[index], block) != 0)
                return -1;
            memcpy(out + done, block + inside, part);
        }
        done += part;
    }
    return done;
}
