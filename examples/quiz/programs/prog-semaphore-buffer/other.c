#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

/* A ring of linked cells instead of indices. */
struct cell {
    int value;
    struct cell *next;
};

struct buffer {
    sem_t room, stock, door;
    struct cell *write_at, *read_at;
    struct cell ring[];
};

static void P(sem_t *s)
{
    while (sem_wait(s) != 0 && errno == EINTR)
        ;
}

static void V(sem_t *s) { sem_post(s); }

struct buffer *buffer_create(int cells)
{
    struct buffer *store = malloc(sizeof(struct buffer) + (size_t)cells * sizeof(struct cell));

    if (!store)
        return NULL;
    for (int i = 0; i + 1 < cells; i++)
        store->ring[i].next = &store->ring[i + 1];
    store->ring[cells - 1].next = store->ring;
    store->write_at = store->read_at = store->ring;
    sem_init(&store->room, 0, cells);
    sem_init(&store->stock, 0, 0);
    sem_init(&store->door, 0, 1);
    return store;
}

static int *advance(struct cell **at)
{
    struct cell *here = *at;
    *at = here->next;
    return &here->value;
}

void buffer_put(struct buffer *store, int value)
{
    P(&store->room);
    P(&store->door);
    *advance(&store->write_at) = value;
    V(&store->stock);
    V(&store->door);
}

int buffer_get(struct buffer *store)
{
    int value;

    P(&store->stock);
    P(&store->door);
    value = *advance(&store->read_at);
    V(&store->room);
    V(&store->door);
    return value;
}

void buffer_destroy(struct buffer *store)
{
    sem_destroy(&store->room);
    sem_destroy(&store->stock);
    sem_destroy(&store->door);
    free(store);
}
