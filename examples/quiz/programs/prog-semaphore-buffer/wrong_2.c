#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <stdlib.h>

struct buffer {
    sem_t mutex, empty, full;
    int cells, in, out;
    int *item;
};

struct buffer *buffer_create(int cells)
{
    struct buffer *b = malloc(sizeof *b);

    if (b == NULL)
        return NULL;
    b->item = malloc((size_t)cells * sizeof *b->item);
    if (b->item == NULL) {
        free(b);
        return NULL;
    }
    b->cells = cells;
    b->in = b->out = 0;
    sem_init(&b->mutex, 0, 1);
    sem_init(&b->empty, 0, (unsigned)cells);
    sem_init(&b->full, 0, 0);
    return b;
}

void buffer_put(struct buffer *b, int item)
{
    sem_wait(&b->empty);
    sem_wait(&b->mutex);
    b->item[b->in] = item;
    b->in = (b->in + 1) % b->cells;
    sem_post(&b->mutex);
    sem_post(&b->full);
}

int buffer_get(struct buffer *b)
{
    sem_wait(&b->full);
    sem_wait(&b->mutex);
    int item = b->item[b->out];
    b->out = (b->out + 1) % b->cells;
    sem_post(&b->mutex);
    return item;
}

void buffer_destroy(struct buffer *b)
{
    sem_destroy(&b->mutex);
    sem_destroy(&b->empty);
    sem_destroy(&b->full);
    free(b->item);
    free(b);
}
