#include <stdlib.h>

struct buddy;

struct buddy *buddy_new(int max_order);
void buddy_delete(struct buddy *b);
long buddy_alloc(struct buddy *b, long units);
int buddy_release(struct buddy *b, long start);

struct buddy {
    int max_order;
    /* 在此填写 / your fields here */
};

struct buddy *buddy_new(int max_order)
{
    /* 在此填写 / your code here */
    (void)max_order;
    return NULL;
}

void buddy_delete(struct buddy *b)
{
    /* 在此填写 / your code here */
    (void)b;
}

long buddy_alloc(struct buddy *b, long units)
{
    /* 在此填写 / your code here */
    (void)b, (void)units;
    return -1;
}

int buddy_release(struct buddy *b, long start)
{
    /* 在此填写 / your code here */
    (void)b, (void)start;
    return -1;
}
