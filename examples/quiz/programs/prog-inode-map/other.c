#include <stdint.h>

#define DIRECT 12u
#define PER_BLOCK 256u

struct inode {
    uint32_t direct[DIRECT];
    uint32_t single;  /* block of PER_BLOCK block numbers */
    uint32_t twofold; /* block of PER_BLOCK numbers of such blocks */
};

/* Provided: read an index block; 0, or -1 if it fails. */
int read_index(uint32_t block, uint32_t entries[PER_BLOCK]);

long block_map(const struct inode *ip, uint32_t n);

/* Follow `depth` index blocks from `block`; n counts blocks below it. */
static long descend(uint32_t block, uint32_t n, int depth)
{
    uint32_t below = 1; /* blocks under one entry of this level */
    for (int i = 1; i < depth; i++)
        below *= PER_BLOCK;
    while (depth-- > 0 && block != 0) {
        uint32_t table[PER_BLOCK];
        if (read_index(block, table))
            return -1;
        block = table[n / below];
        n %= below;
        below /= PER_BLOCK;
    }
    return block;
}

long block_map(const struct inode *ip, uint32_t n)
{
    const uint32_t first_single = DIRECT;
    const uint32_t first_double = first_single + PER_BLOCK;
    const uint32_t end = first_double + PER_BLOCK * PER_BLOCK;
    if (n >= end)
        return -1;
    if (n >= first_double)
        return descend(ip->twofold, n - first_double, 2);
    if (n >= first_single)
        return descend(ip->single, n - first_single, 1);
    return descend(ip->direct[n], 0, 0);
}
