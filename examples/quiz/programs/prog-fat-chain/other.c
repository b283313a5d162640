#include <stddef.h>
#include <stdint.h>

#define FAT_FREE 0x0000u
#define FAT_END 0xFFFFu

enum { NO_BLOCK = -1, DAMAGED = -2 };

long fat_block(const uint16_t fat[], size_t entries, uint16_t first, uint32_t offset, uint32_t block_size);
long fat_append(uint16_t fat[], size_t entries, uint16_t *first);

/* The block behind `from` in the chain, checked; `left` counts the steps that remain. */
static long follow(const uint16_t fat[], size_t entries, uint16_t to, size_t *left)
{
    if (to == FAT_END)
        return NO_BLOCK;
    if (to == 0 || to >= entries || fat[to] == FAT_FREE || *left == 0)
        return DAMAGED;
    --*left;
    return to;
}

long fat_block(const uint16_t fat[], size_t entries, uint16_t first, uint32_t offset, uint32_t block_size)
{
    size_t left = entries;
    long at = follow(fat, entries, first, &left);
    while (at > 0 && offset >= block_size) {
        offset -= block_size;
        at = follow(fat, entries, fat[at], &left);
    }
    return at;
}

long fat_append(uint16_t fat[], size_t entries, uint16_t *first)
{
    /* The place that holds FAT_END now and will hold the new block. */
    uint16_t *end = first;
    size_t left = entries;
    long at;
    while ((at = follow(fat, entries, *end, &left)) > 0)
        end = &fat[at];
    if (at == DAMAGED)
        return DAMAGED;

    size_t fresh = 1;
    while (fresh < entries && fat[fresh] != FAT_FREE)
        fresh++;
    if (fresh >= entries)
        return NO_BLOCK;
    *end = (uint16_t)fresh;
    fat[fresh] = FAT_END;
    return (long)fresh;
}
