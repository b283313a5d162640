#include <stdlib.h>

struct buddy;

struct buddy *buddy_new(int max_order);
void buddy_delete(struct buddy *b);
long buddy_alloc(struct buddy *b, long units);
int buddy_release(struct buddy *b, long start);

struct buddy {
    int max_order;
    /* For each unit: k + 1 if a free block of order k starts there,
       -(k + 1) if an allocated one does, 0 if no block starts there. */
    signed char *tag;
};

struct buddy *buddy_new(int max_order)
{
    if (max_order < 0 || max_order > 20)
        return NULL;
    struct buddy *b = malloc(sizeof *b);
    if (b == NULL)
        return NULL;
    b->max_order = max_order;
    b->tag = calloc((size_t)1 << max_order, 1);
    if (b->tag == NULL) {
        free(b);
        return NULL;
    }
    b->tag[0] = (signed char)(max_order + 1);
    return b;
}

void buddy_delete(struct buddy *b)
{
    if (b != NULL)
        free(b->tag);
    free(b);
}

/* First free block of exactly this order, or -1. */
static long find_free(const struct buddy *b, int order)
{
    for (long s = 0; s < 1L << b->max_order; s += 1L << order)
        if (b->tag[s] == order + 1)
            return s;
    return -1;
}

long buddy_alloc(struct buddy *b, long units)
{
    if (units <= 0 || units > 1L << b->max_order)
        return -1;
    int want = 0;
    while (1L << want < units)
        want++;

    int order = want;
    long start = -1;
    while (order <= b->max_order && (start = find_free(b, order)) < 0)
        order++;
    if (start < 0)
        return -1;
    while (order > want) { /* keep the lower half, free the upper one */
        order--;
        b->tag[start + (1L << order)] = (signed char)(order + 1);
    }
    b->tag[start] = (signed char)-(want + 1);
    return start;
}

int buddy_release(struct buddy *b, long start)
{
    if (start < 0 || start >= 1L << b->max_order || b->tag[start] >= 0)
        return -1;
    int order = -b->tag[start] - 1;
    b->tag[start] = 0;
    while (order < b->max_order) {
        long buddy = start ^ (1L << order);
        if (b->tag[buddy] != order + 1)
            break;
        b->tag[buddy] = 0;
        start &= ~(1L << order);
        order++;
    }
    b->tag[start] = (signed char)(order + 1);
    return order;
}
