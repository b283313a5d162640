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

long block_map(const struct inode *ip, uint32_t n)
{
    uint32_t entries[PER_BLOCK];

    if (n < DIRECT)
        return ip->direct[n];
    n -= DIRECT;

    if (n < PER_BLOCK) {
        if (ip->single == 0)
            return 0;
        if (read_index(ip->single, entries) != 0)
            return -1;
        return entries[n];
    }
    n -= PER_BLOCK;

    if (n < PER_BLOCK * PER_BLOCK) {
        if (ip->twofold == 0)
            return 0;
        if (read_index(ip->twofold, entries) != 0)
            return -1;
        uint32_t inner = entries[n / PER_BLOCK];
        if (inner == 0)
            return 0;
        if (read_index(inner, entries) != 0)
            return -1;
        return entries[n % PER_BLOCK];
    }
    return -1;
}
