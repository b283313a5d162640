#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

typedef struct worker {
    pthread_t id;
    long (*job)(int);
    const int *from;
    long *to;
    int count;
} worker;

static void *labour(void *me)
{
    worker *w = me;
    const int *src = w->from;
    long *dst = w->to;

    while (w->count-- > 0)
        *dst++ = w->job(*src++);
    return me;
}

int thread_map(const int *in, long *out, int n, int threads, long (*f)(int))
{
    worker *crew = calloc((size_t)threads, sizeof *crew);
    int hired = 0, rest = n, error = crew == NULL;

    while (!error && hired < threads) {
        worker *w = crew + hired;
        w->job = f;
        w->from = in + (n - rest);
        w->to = out + (n - rest);
        int share = rest / (threads - hired);  /* what is left, divided by who is left */
        w->count = share;
        rest -= share;
        error = pthread_create(&w->id, NULL, labour, w);
        hired += !error;
    }
    while (hired > 0)
        pthread_join(crew[--hired].id, NULL);
    free(crew);
    return error ? -1 : 0;
}
