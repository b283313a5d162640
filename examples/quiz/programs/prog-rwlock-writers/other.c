#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* One condition variable; state > 0: that many readers, -1: a writer, 0: free. */
struct rw {
    pthread_mutex_t gate;
    pthread_cond_t news;
    int state;
    unsigned queued;
};

struct rw *rw_create(void)
{
    struct rw *x = calloc(1, sizeof *x);

    if (x) {
        pthread_mutex_init(&x->gate, NULL);
        pthread_cond_init(&x->news, NULL);
    }
    return x;
}

static bool readable(const struct rw *x) { return x->state >= 0 && x->queued == 0; }
static bool writable(const struct rw *x) { return x->state == 0; }

static void set_state(struct rw *x, int next)
{
    x->state = next;
    if (next == 0)
        pthread_cond_broadcast(&x->news);
}

void rw_read_lock(struct rw *x)
{
    pthread_mutex_lock(&x->gate);
    while (!readable(x))
        pthread_cond_wait(&x->news, &x->gate);
    x->state++;
    pthread_mutex_unlock(&x->gate);
}

void rw_read_unlock(struct rw *x)
{
    pthread_mutex_lock(&x->gate);
    set_state(x, x->state - 1);
    pthread_mutex_unlock(&x->gate);
}

void rw_write_lock(struct rw *x)
{
    pthread_mutex_lock(&x->gate);
    for (x->queued++; !writable(x); )
        pthread_cond_wait(&x->news, &x->gate);
    x->queued--;
    x->state = -1;
    pthread_mutex_unlock(&x->gate);
}

void rw_write_unlock(struct rw *x)
{
    pthread_mutex_lock(&x->gate);
    set_state(x, 0);
    pthread_mutex_unlock(&x->gate);
}

void rw_destroy(struct rw *x)
{
    pthread_cond_destroy(&x->news);
    pthread_mutex_destroy(&x->gate);
    free(x);
}
