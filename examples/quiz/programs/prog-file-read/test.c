#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE 512u

/* Provided: read one disk block; 0, or -1 if it fails. */
int read_block(uint32_t block, unsigned char data[BLOCK_SIZE]);

long file_read(const uint32_t map[], uint32_t size, uint32_t offset, void *buf, uint32_t count);

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

enum { DISK = 16 };
static int reads, bad_reads;

/* Byte i of disk block b is (7 * b + i) % 251; block 13 is broken. */
static unsigned char byte_of(uint32_t block, uint32_t i)
{
    return (unsigned char)((7 * block + i) % 251);
}

int read_block(uint32_t block, unsigned char data[BLOCK_SIZE])
{
    reads++;
    if (block == 0 || block >= DISK)
        bad_reads++;
    if (block == 0 || block >= DISK || block == 13)
        return -1;
    for (uint32_t i = 0; i < BLOCK_SIZE; i++)
        data[i] = byte_of(block, i);
    return 0;
}

static const uint32_t map[] = {9, 4, 0, 11, 5}; /* block 2 is a hole */
enum { SIZE = 4 * 512 + 100 };

/* Read into memory of exactly `room` bytes, so that the sanitizer sees a write behind it. */
static void read_case(const char *name, uint32_t offset, uint32_t count, uint32_t room, int want_reads)
{
    unsigned char *buf = malloc(room + !room);
    char title[96];
    if (buf == NULL)
        exit(1);
    memset(buf, 0xEE, room + !room);
    reads = 0;
    long got = file_read(map, SIZE, offset, buf, count);
    snprintf(title, sizeof title, "%s, number of bytes", name);
    check(title, room, got);
    uint32_t equal = 0;
    for (uint32_t i = 0; i < room; i++) {
        uint32_t block = map[(offset + i) / BLOCK_SIZE];
        equal += buf[i] == (block ? byte_of(block, (offset + i) % BLOCK_SIZE) : 0);
    }
    snprintf(title, sizeof title, "%s, right bytes", name);
    check(title, room, equal);
    snprintf(title, sizeof title, "%s, blocks read", name);
    check(title, want_reads, reads);
    free(buf);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    read_case("first bytes", 0, 10, 10, 1);
    read_case("inside a block", 600, 100, 100, 1);
    read_case("exactly one block", 512, 512, 512, 1);
    read_case("across a boundary", 500, 30, 30, 2);
    read_case("last byte of a block", 511, 1, 1, 1);
    read_case("inside the hole", 1100, 50, 50, 0);
    read_case("around the hole", 1000, 600, 600, 2);
    read_case("whole file", 0, SIZE, SIZE, 4);
    read_case("cut at the end", 2100, 1000, 48, 1);
    read_case("huge count", 2000, UINT32_MAX, 148, 2);
    read_case("at the end", SIZE, 10, 0, 0);
    read_case("behind the end", 100000, 10, 0, 0);
    read_case("count 0", 50, 0, 0, 0);

    unsigned char buf[1024];
    const uint32_t broken[] = {3, 13};
    check("error in the first block", -1, file_read(broken + 1, 512, 0, buf, 10));
    check("error in the second block", -1, file_read(broken, 1024, 0, buf, 1024));
    check("no error before the broken block", 512, file_read(broken, 1024, 0, buf, 512));
    check("blocks that do not exist", 0, bad_reads);
    return failures;
}
