#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* Two doors: everybody collects behind the door of this round while the other is shut again. */
struct barrier {
    pthread_mutex_t guard;
    pthread_cond_t moved;
    int size, missing, phase;
    bool open[2];
};

struct barrier *barrier_create(int threads)
{
    struct barrier *gate = calloc(1, sizeof *gate);

    if (gate != NULL) {
        pthread_mutex_init(&gate->guard, NULL);
        pthread_cond_init(&gate->moved, NULL);
        gate->size = gate->missing = threads;
    }
    return gate;
}

int barrier_wait(struct barrier *gate)
{
    int last;

    pthread_mutex_lock(&gate->guard);
    int door = gate->phase;
    gate->missing--;
    last = gate->missing == 0;
    if (last) {
        gate->missing = gate->size;
        gate->phase = !door;
        gate->open[!door] = false;
        gate->open[door] = true;
        pthread_cond_broadcast(&gate->moved);
    }
    while (!gate->open[door])
        pthread_cond_wait(&gate->moved, &gate->guard);
    pthread_mutex_unlock(&gate->guard);
    return last;
}

void barrier_destroy(struct barrier *gate)
{
    pthread_cond_destroy(&gate->moved);
    pthread_mutex_destroy(&gate->guard);
    free(gate);
}
