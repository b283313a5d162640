struct hole {
    long start, size;
};

enum fit { FIRST_FIT, BEST_FIT };

long place(struct hole holes[], int *n, long size, enum fit how);

#include <string.h>

static struct hole *first_fit(struct hole *from, struct hole *end, long size)
{
    while (from < end && from->size < size)
        from++;
    return from;
}

static struct hole *best_fit(struct hole *from, struct hole *end, long size)
{
    struct hole *best = first_fit(from, end, size);
    for (struct hole *h = best; h < end; h++)
        if (h->size >= size && h->size < best->size)
            best = h;
    return best;
}

long place(struct hole holes[], int *n, long size, enum fit how)
{
    struct hole *end = holes + *n;
    if (size < 1)
        return -1;
    struct hole *h = how == BEST_FIT ? best_fit(holes, end, size) : first_fit(holes, end, size);
    if (h == end)
        return -1;
    long address = h->start;
    if (h->size > size) {
        *h = (struct hole){address + size, h->size - size};
    } else {
        memmove(h, h + 1, (size_t)(end - h - 1) * sizeof *h);
        --*n;
    }
    return address;
}
