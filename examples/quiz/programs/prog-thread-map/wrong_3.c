#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

struct part {
    const int *in;
    long *out;
    int first, past;
    long (*f)(int);
};

static void *run(void *arg)
{
    struct part *p = arg;

    for (int i = p->first; i < p->past; i++)
        p->out[i] = p->f(p->in[i]);
    return NULL;
}

int thread_map(const int *in, long *out, int n, int threads, long (*f)(int))
{
    pthread_t thread[64];
    static struct part part[64];
    int started;

    for (started = 0; started < threads; started++) {
        int first = (int)((long)n * started / threads);
        int past = (int)((long)n * (started + 1) / threads);
        part[started] = (struct part){in, out, first, past, f};
        if (pthread_create(&thread[started], NULL, run, &part[started]) != 0)
            break;
    }
    for (int i = 0; i < started; i++)
        pthread_detach(thread[i]);
    return started == threads ? 0 : -1;
}
