#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

struct ring {
    unsigned char *bytes;
    size_t capacity, head, used;  /* head: the oldest byte */
};

struct ring *ring_create(size_t capacity)
{
    struct ring *r = malloc(sizeof *r);

    if (r == NULL)
        return NULL;
    r->bytes = malloc(capacity);
    if (r->bytes == NULL) {
        free(r);
        return NULL;
    }
    r->capacity = capacity;
    r->head = r->used = 0;
    return r;
}

size_t ring_write(struct ring *r, const void *data, size_t n)
{
    const unsigned char *from = data;
    size_t done = 0;

    while (done < n && r->used + 1 < r->capacity) {
        r->bytes[(r->head + r->used) % r->capacity] = from[done++];
        r->used++;
    }
    return done;
}

size_t ring_read(struct ring *r, void *data, size_t n)
{
    unsigned char *to = data;
    size_t done = 0;

    while (done < n && r->used > 0) {
        to[done++] = r->bytes[r->head];
        r->head = (r->head + 1) % r->capacity;
        r->used--;
    }
    return done;
}

size_t ring_used(const struct ring *r)
{
    return r->used;
}

void ring_destroy(struct ring *r)
{
    free(r->bytes);
    free(r);
}
