#include <stdlib.h>

struct block {
    long start, size;
    struct block *next;
};

int give_back(struct block **list, long start, long size);
void drop_all(struct block **list);

static long end_of(const struct block *b)
{
    return b->start + b->size;
}

/* Merge `b` with the block behind it if they touch. */
static void absorb_next(struct block *b)
{
    struct block *victim = b->next;
    if (victim && end_of(b) == victim->start) {
        b->size += victim->size;
        b->next = victim->next;
        free(victim);
    }
}

int give_back(struct block **list, long start, long size)
{
    struct block *before = NULL;
    struct block **link = list;
    for (; *link && (*link)->start <= start; link = &(*link)->next)
        before = *link;

    if (size < 1 || (before && end_of(before) > start) || (*link && (*link)->start < start + size))
        return -1;

    /* Always insert first, then join what touches. */
    struct block *fresh = malloc(sizeof(struct block));
    if (!fresh)
        return -1;
    *fresh = (struct block){start, size, *link};
    *link = fresh;
    absorb_next(fresh);
    if (before)
        absorb_next(before);
    return 0;
}

void drop_all(struct block **list)
{
    while (*list) {
        struct block *first = *list;
        *list = first->next;
        free(first);
    }
}
