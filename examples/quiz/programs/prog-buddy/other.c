#include <stdlib.h>

struct buddy;

struct buddy *buddy_new(int max_order);
void buddy_delete(struct buddy *b);
long buddy_alloc(struct buddy *b, long units);
int buddy_release(struct buddy *b, long start);

/* A block is a node of a binary tree: node 1 is everything, node i has the
   halves 2i (low) and 2i + 1 (high). Siblings are buddies: i ^ 1. */
enum state { NO_BLOCK, FREE, USED };

struct buddy {
    int height;
    unsigned char *state;
};

struct buddy *buddy_new(int max_order)
{
    if (max_order < 0 || max_order > 20)
        return NULL;
    struct buddy *b = malloc(sizeof(struct buddy));
    unsigned char *state = calloc((size_t)2 << max_order, sizeof *state);
    if (!b || !state) {
        free(b);
        free(state);
        return NULL;
    }
    state[1] = FREE;
    b->height = max_order;
    b->state = state;
    return b;
}

void buddy_delete(struct buddy *b)
{
    if (!b)
        return;
    free(b->state);
    free(b);
}

long buddy_alloc(struct buddy *b, long units)
{
    if (units < 1)
        return -1;
    int order = 0;
    for (long size = 1; size < units && order <= b->height; size *= 2)
        order++;
    /* Nodes of one order stand side by side, lowest address first. */
    for (int k = order; k <= b->height; k++) {
        long first = 1L << (b->height - k);
        for (long node = first; node < 2 * first; node++) {
            if (b->state[node] != FREE)
                continue;
            b->state[node] = NO_BLOCK;
            for (; k > order; k--) {
                node *= 2;
                b->state[node ^ 1] = FREE;
            }
            b->state[node] = USED;
            return (node << order) - (1L << b->height);
        }
    }
    return -1;
}

int buddy_release(struct buddy *b, long start)
{
    if (start < 0 || start >> b->height != 0)
        return -1;
    int order = 0;
    long node = start + (1L << b->height);
    while (b->state[node] != USED) { /* go up, as long as this is the low half */
        if (node == 1 || node % 2 == 1)
            return -1;
        node /= 2;
        order++;
    }
    b->state[node] = NO_BLOCK;
    while (node > 1 && b->state[node ^ 1] == FREE) {
        b->state[node ^ 1] = NO_BLOCK;
        node /= 2;
        order++;
    }
    b->state[node] = FREE;
    return order;
}
