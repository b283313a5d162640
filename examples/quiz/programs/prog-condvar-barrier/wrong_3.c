#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int threads, arrived;
    unsigned round;
};

struct barrier *barrier_create(int threads)
{
    struct barrier *b = malloc(sizeof *b);

    if (b == NULL)
        return NULL;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->all_here, NULL);
    b->threads = threads;
    b->arrived = 0;
    b->round = 0;
    return b;
}

int barrier_wait(struct barrier *b)
{
    pthread_mutex_lock(&b->lock);
    unsigned mine = b->round;
    if (++b->arrived == b->threads) {
        b->arrived = 0;
        b->round++;
        pthread_cond_signal(&b->all_here);
        pthread_mutex_unlock(&b->lock);
        return 1;
    }
    while (mine == b->round)
        pthread_cond_wait(&b->all_here, &b->lock);
    pthread_mutex_unlock(&b->lock);
    return 0;
}

void barrier_destroy(struct barrier *b)
{
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->all_here);
    free(b);
}
