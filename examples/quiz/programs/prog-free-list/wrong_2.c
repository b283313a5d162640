#include <stdlib.h>

struct block {
    long start, size;
    struct block *next;
};

int give_back(struct block **list, long start, long size);
void drop_all(struct block **list);

int give_back(struct block **list, long start, long size)
{
    struct block *prev = NULL, *next = *list;
    if (size <= 0)
        return -1;
    while (next != NULL && next->start < start) {
        prev = next;
        next = next->next;
    }
    if (prev != NULL && prev->start + prev->size > start)
        return -1;
    if (next != NULL && start + size > next->start)
        return -1;

    int touches_prev = prev != NULL && prev->start + prev->size == start;
    int touches_next = next != NULL && start + size == next->start;
    if (touches_prev && touches_next) {
        prev->size += size + next->size;
        prev->next = next->next;
    } else if (touches_prev) {
        prev->size += size;
    } else if (touches_next) {
        next->start = start;
        next->size += size;
    } else {
        struct block *b = malloc(sizeof *b);
        if (b == NULL)
            return -1;
        b->start = start;
        b->size = size;
        b->next = next;
        if (prev == NULL)
            *list = b;
        else
            prev->next = b;
    }
    return 0;
}

void drop_all(struct block **list)
{
    struct block *b = *list;
    while (b != NULL) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
    *list = NULL;
}
