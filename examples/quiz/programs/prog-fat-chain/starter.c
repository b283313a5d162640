#include <stddef.h>
#include <stdint.h>

#define FAT_FREE 0x0000u
#define FAT_END 0xFFFFu

enum { NO_BLOCK = -1, DAMAGED = -2 };

long fat_block(const uint16_t fat[], size_t entries, uint16_t first, uint32_t offset, uint32_t block_size);
long fat_append(uint16_t fat[], size_t entries, uint16_t *first);

/* The block that holds the byte at `offset`, NO_BLOCK, or DAMAGED. */
long fat_block(const uint16_t fat[], size_t entries, uint16_t first, uint32_t offset, uint32_t block_size)
{
    /* 在此填写 / your code here */
    (void)fat, (void)entries, (void)first, (void)offset, (void)block_size;
    return DAMAGED;
}

/* Append a free block to the file; its number, NO_BLOCK, or DAMAGED. */
long fat_append(uint16_t fat[], size_t entries, uint16_t *first)
{
    /* 在此填写 / your code here */
    (void)fat, (void)entries, (void)first;
    return DAMAGED;
}
