#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

/* put and got count all bytes ever written and read; two memcpy at most for each call. */
struct ring {
    unsigned long long put, got;
    size_t size;
    char space[];
};

struct ring *ring_create(size_t capacity)
{
    struct ring *loop = malloc(sizeof(struct ring) + capacity);

    if (!loop)
        return NULL;
    loop->put = 0;
    loop->got = 0;
    loop->size = capacity;
    return loop;
}

void ring_destroy(struct ring *loop)
{
    free(loop);
}

size_t ring_used(const struct ring *loop)
{
    return (size_t)(loop->put - loop->got);
}

static size_t least(size_t x, size_t y) { return x < y ? x : y; }

size_t ring_write(struct ring *loop, const void *data, size_t n)
{
    size_t count = least(n, loop->size - ring_used(loop));
    size_t at = loop->put % loop->size;
    size_t before_end = least(count, loop->size - at);

    memcpy(loop->space + at, data, before_end);
    memcpy(loop->space, (const char *)data + before_end, count - before_end);
    loop->put += count;
    return count;
}

size_t ring_read(struct ring *loop, void *data, size_t n)
{
    size_t count = least(n, ring_used(loop));
    size_t at = loop->got % loop->size;
    size_t before_end = least(count, loop->size - at);

    memcpy(data, loop->space + at, before_end);
    memcpy((char *)data + before_end, loop->space, count - before_end);
    loop->got += count;
    return count;
}
