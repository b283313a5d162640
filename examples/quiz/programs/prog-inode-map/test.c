#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

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

static int failures;

/* One line for each case: `ok NAME` or `FAIL NAME: what was expected, what came`. */
static void check(const char *name, long long want, long long got)
{
    if (want == got) {
        printf("ok %s\n", name);
    } else {
        printf("FAIL %s: expected %lld, got %lld\n", name, want, got);
        failures++;
    }
}

enum { BROKEN = 700 };
static int reads, bad_reads;

/* Block 500 is the single indirect block, 600 the double indirect one. Entry i of
   block 600 is 1000 + i, but entry 3 is a hole and entry 4 is a broken block. */
int read_index(uint32_t block, uint32_t entries[PER_BLOCK])
{
    reads++;
    if (block == BROKEN)
        return -1;
    if (block != 500 && block != 600 && (block < 1000 || block >= 1000 + PER_BLOCK)) {
        bad_reads++;
        return -1;
    }
    for (uint32_t i = 0; i < PER_BLOCK; i++) {
        if (block == 500)
            entries[i] = i == 9 ? 0 : 5000 + i;
        else if (block == 600)
            entries[i] = i == 3 ? 0 : i == 4 ? BROKEN : 1000 + i;
        else
            entries[i] = i == 77 ? 0 : block * 1000 + i;
    }
    return 0;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    struct inode file = {.single = 500, .twofold = 600};
    for (uint32_t i = 0; i < DIRECT; i++)
        file.direct[i] = 100 + i;
    file.direct[5] = 0;

    check("first direct", 100, block_map(&file, 0));
    check("last direct", 111, block_map(&file, 11));
    check("hole among the direct ones", 0, block_map(&file, 5));
    check("no reads so far", 0, reads);

    check("first single indirect", 5000, block_map(&file, 12));
    check("one read", 1, reads);
    check("last single indirect", 5255, block_map(&file, 12 + 255));
    check("hole in the single indirect block", 0, block_map(&file, 12 + 9));

    reads = 0;
    check("first double indirect", 1000000, block_map(&file, 268));
    check("two reads", 2, reads);
    check("end of the first inner block", 1000255, block_map(&file, 268 + 255));
    check("start of the second inner block", 1001000, block_map(&file, 268 + 256));
    check("quotient 2, remainder 7", 1002007, block_map(&file, 268 + 2 * 256 + 7));
    check("quotient 7, remainder 2", 1007002, block_map(&file, 268 + 7 * 256 + 2));
    check("hole in an inner block", 0, block_map(&file, 268 + 5 * 256 + 77));
    check("last block of all", 1255255, block_map(&file, 268 + 65535));

    reads = 0;
    check("hole in the outer block", 0, block_map(&file, 268 + 3 * 256 + 1));
    check("only the outer block is read", 1, reads);
    check("inner block cannot be read", -1, block_map(&file, 268 + 4 * 256));

    reads = 0;
    check("too large by one", -1, block_map(&file, 268 + 65536));
    check("far too large", -1, block_map(&file, UINT32_MAX));
    check("no reads for what is too large", 0, reads);

    struct inode holes = {.direct = {0}};
    check("no single indirect block", 0, block_map(&holes, 20));
    check("no double indirect block", 0, block_map(&holes, 5000));
    check("no reads for holes", 0, reads);
    holes.single = BROKEN;
    holes.twofold = BROKEN;
    check("single indirect block cannot be read", -1, block_map(&holes, 20));
    check("double indirect block cannot be read", -1, block_map(&holes, 5000));
    check("blocks that are no index blocks", 0, bad_reads);
    return failures;
}
