#include <stddef.h>
#include <stdint.h>

#define FAT_FREE 0x0000u
#define FAT_END 0xFFFFu

enum { NO_BLOCK = -1, DAMAGED = -2 };

long fat_block(const uint16_t fat[], size_t entries, uint16_t first, uint32_t offset, uint32_t block_size);
long fat_append(uint16_t fat[], size_t entries, uint16_t *first);

/* May `block` be part of a chain? */
static int is_sound(const uint16_t fat[], size_t entries, uint16_t block)
{
    return block != 0 && block < entries && fat[block] != FAT_FREE;
}

long fat_block(const uint16_t fat[], size_t entries, uint16_t first, uint32_t offset, uint32_t block_size)
{
    uint32_t index = (offset + block_size - 1) / block_size;
    uint16_t block = first;
    for (uint32_t step = 0;; step++) {
        if (block == FAT_END)
            return NO_BLOCK;
        if (step >= entries || !is_sound(fat, entries, block))
            return DAMAGED;
        if (step == index)
            return block;
        block = fat[block];
    }
}

long fat_append(uint16_t fat[], size_t entries, uint16_t *first)
{
    uint16_t last = FAT_END;
    size_t steps = 0;
    for (uint16_t block = *first; block != FAT_END; block = fat[block]) {
        if (++steps > entries || !is_sound(fat, entries, block))
            return DAMAGED;
        last = block;
    }
    for (uint16_t fresh = 1; fresh < entries; fresh++) {
        if (fat[fresh] == FAT_FREE) {
            fat[fresh] = FAT_END;
            if (last == FAT_END)
                *first = fresh;
            else
                fat[last] = fresh;
            return fresh;
        }
    }
    return NO_BLOCK;
}
