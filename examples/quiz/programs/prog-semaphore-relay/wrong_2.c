#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <stdlib.h>

struct relay {
    int threads;
    sem_t *turn;
};

struct relay *relay_create(int threads)
{
    struct relay *r = malloc(sizeof *r);

    if (r == NULL)
        return NULL;
    r->turn = malloc((size_t)threads * sizeof *r->turn);
    if (r->turn == NULL) {
        free(r);
        return NULL;
    }
    r->threads = threads;
    for (int i = 0; i < threads; i++)
        sem_init(&r->turn[i], 0, i == 0 ? 1 : 0);
    return r;
}

void relay_run(struct relay *r, int who, int rounds, void (*step)(int who))
{
    for (int i = 0; i < rounds; i++) {
        sem_wait(&r->turn[who]);
        step(who);
        sem_post(&r->turn[who]);
    }
}

void relay_destroy(struct relay *r)
{
    for (int i = 0; i < r->threads; i++)
        sem_destroy(&r->turn[i]);
    free(r->turn);
    free(r);
}
