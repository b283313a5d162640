#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

struct queue {
    /* TODO: your fields here / 在这里填写成员 */
    int capacity;
};

struct queue *queue_create(int capacity)
{
    /* TODO: your code here / 在这里填写 */
    (void)capacity;
    return NULL;
}

/* 0, or -1 if the queue is closed. Waits while it is full. */
int queue_put(struct queue *q, int item)
{
    /* TODO: your code here / 在这里填写 */
    (void)q;
    (void)item;
    return -1;
}

/* 0, or -1 if the queue is closed and empty. Waits while it is empty. */
int queue_get(struct queue *q, int *item)
{
    /* TODO: your code here / 在这里填写 */
    (void)q;
    (void)item;
    return -1;
}

void queue_close(struct queue *q)
{
    /* TODO: your code here / 在这里填写 */
    (void)q;
}

/* Nobody uses the queue any more. */
void queue_destroy(struct queue *q)
{
    /* TODO: your code here / 在这里填写 */
    (void)q;
}
