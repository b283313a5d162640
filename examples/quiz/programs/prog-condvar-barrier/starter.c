#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

struct barrier {
    /* TODO: your fields here / 在这里填写成员 */
    int threads;
};

struct barrier *barrier_create(int threads)
{
    /* TODO: your code here / 在这里填写 */
    (void)threads;
    return NULL;
}

/* Waits for all threads. 1 for the last to arrive, 0 for the others. */
int barrier_wait(struct barrier *b)
{
    /* TODO: your code here / 在这里填写 */
    (void)b;
    return 0;
}

void barrier_destroy(struct barrier *b)
{
    /* TODO: your code here / 在这里填写 */
    (void)b;
}
