#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

struct rw {
    pthread_mutex_t m;
    pthread_cond_t may_read, may_write;
    int readers, writing, waiting_writers;
};

struct rw *rw_create(void)
{
    struct rw *l = malloc(sizeof *l);

    if (l == NULL)
        return NULL;
    pthread_mutex_init(&l->m, NULL);
    pthread_cond_init(&l->may_read, NULL);
    pthread_cond_init(&l->may_write, NULL);
    l->readers = l->writing = l->waiting_writers = 0;
    return l;
}

void rw_read_lock(struct rw *l)
{
    pthread_mutex_lock(&l->m);
    while (l->writing || l->waiting_writers > 0)
        pthread_cond_wait(&l->may_read, &l->m);
    l->readers++;
    pthread_mutex_unlock(&l->m);
}

void rw_read_unlock(struct rw *l)
{
    pthread_mutex_lock(&l->m);
    if (--l->readers == 0)
        pthread_cond_signal(&l->may_write);
    pthread_mutex_unlock(&l->m);
}

void rw_write_lock(struct rw *l)
{
    pthread_mutex_lock(&l->m);
    l->waiting_writers++;
    while (l->writing || l->readers > 0)
        pthread_cond_wait(&l->may_write, &l->m);
    l->waiting_writers--;
    l->writing = 1;
    pthread_mutex_unlock(&l->m);
}

void rw_write_unlock(struct rw *l)
{
    pthread_mutex_lock(&l->m);
    l->writing = 0;
    if (l->waiting_writers > 0)
        pthread_cond_signal(&l->may_write);
    else
        pthread_cond_signal(&l->may_read);
    pthread_mutex_unlock(&l->m);
}

void rw_destroy(struct rw *l)
{
    pthread_mutex_destroy(&l->m);
    pthread_cond_destroy(&l->may_read);
    pthread_cond_destroy(&l->may_write);
    free(l);
}
