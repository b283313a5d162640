#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t nonempty, nonfull;
    int capacity, count, head, closed;
    int *items;
};

struct queue *queue_create(int capacity)
{
    struct queue *q = malloc(sizeof *q);

    if (q == NULL)
        return NULL;
    q->items = malloc((size_t)capacity * sizeof *q->items);
    if (q->items == NULL) {
        free(q);
        return NULL;
    }
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->nonempty, NULL);
    pthread_cond_init(&q->nonfull, NULL);
    q->capacity = capacity;
    q->count = q->head = q->closed = 0;
    return q;
}

int queue_put(struct queue *q, int item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == q->capacity && !q->closed)
        pthread_cond_wait(&q->nonfull, &q->lock);
    if (q->closed) {
        pthread_mutex_unlock(&q->lock);
        return -1;
    }
    q->items[(q->head + q->count) % q->capacity] = item;
    q->count++;
    pthread_cond_signal(&q->nonempty);
    pthread_mutex_unlock(&q->lock);
    return 0;
}

int queue_get(struct queue *q, int *item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && !q->closed)
        pthread_cond_wait(&q->nonempty, &q->lock);
    if (q->count == 0) {
        pthread_mutex_unlock(&q->lock);
        return -1;
    }
    *item = q->items[q->head];
    q->head = (q->head + 1) % q->capacity;
    q->count--;
    pthread_cond_signal(&q->nonfull);
    pthread_mutex_unlock(&q->lock);
    return 0;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = 1;
    pthread_cond_signal(&q->nonempty);
    pthread_cond_signal(&q->nonfull);
    pthread_mutex_unlock(&q->lock);
}

void queue_destroy(struct queue *q)
{
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->nonempty);
    pthread_cond_destroy(&q->nonfull);
    free(q->items);
    free(q);
}
