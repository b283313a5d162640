#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct barrier;
struct barrier *barrier_create(int threads);
int barrier_wait(struct barrier *b);
void barrier_destroy(struct barrier *b);

static pid_t self;
static int failures;
static const char *current = "start";
static char mismatch[200];

static void late(int sig)
{
    (void)sig;
    if (getpid() != self)
        _exit(98);
    char line[300];
    int n = snprintf(line, sizeof line, "FAIL %s: expected an end within 5 s, it still waits\n", current);
    (void)!write(1, line, (size_t)n);
    _exit(failures + 1);
}

static void begin(const char *name) { current = name; mismatch[0] = 0; }

static void expect(const char *what, long wanted, long came)
{
    if (getpid() != self)
        _exit(99);  /* a child that should have ended came back into the tests */
    if (wanted != came && mismatch[0] == 0)
        snprintf(mismatch, sizeof mismatch, "%s: expected %ld, got %ld", what, wanted, came);
}

static void end(void)
{
    if (getpid() != self)
        _exit(99);
    if (mismatch[0]) {
        failures++;
        printf("FAIL %s: %s\n", current, mismatch);
    } else
        printf("ok %s\n", current);
}

static void start(void)
{
    self = getpid();
    setvbuf(stdout, NULL, _IONBF, 0);
    signal(SIGALRM, late);
    alarm(5);
}

static void nap_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* POSIX allows a wait to return without a signal. This one stands in for the
   library's and does so every second time; `waiting` counts sleepers. */
static atomic_int waiting;
static _Thread_local unsigned waits;

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    if (waits++ % 2 == 0) {
        pthread_mutex_unlock(mutex);
        sched_yield();
        pthread_mutex_lock(mutex);
        return 0;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    waiting++;
    int rc = pthread_cond_timedwait(cond, mutex, &until);
    waiting--;
    return rc;
}

/* Returns when `n` threads sleep, or after a while if they wait in another way. */
static void until_waiting(int n)
{
    for (int i = 0; i < 300 && waiting < n; i++)
        nap_ms(1);
}

enum { THREADS = 5, ROUNDS = 60 };
static struct barrier *b;
static atomic_int arrived[ROUNDS], last[ROUNDS], too_early, passed;

static void *run(void *arg)
{
    int me = *(int *)arg;
    for (int r = 0; r < ROUNDS; r++) {
        if (r % THREADS == me)
            nap_ms(1);
        arrived[r]++;
        int rc = barrier_wait(b);
        if (arrived[r] != THREADS)
            too_early++;
        if (rc == 1)
            last[r]++;
    }
    return NULL;
}

static void *pass(void *arg)
{
    (void)arg;
    barrier_wait(b);
    passed++;
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int number[THREADS];
    start();

    begin("one-thread");
    b = barrier_create(1);
    if (b == NULL) {
        expect("barrier_create(1) gave a barrier", 1, 0);
        end();
        return failures;
    }
    expect("return value of the only thread", 1, barrier_wait(b));
    expect("return value of the second round", 1, barrier_wait(b));
    barrier_destroy(b);
    end();

    begin("nobody-passes-early");
    b = barrier_create(3);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, pass, NULL);
    until_waiting(2);
    nap_ms(20);
    expect("threads that passed when 2 of 3 had arrived", 0, passed);
    expect("return value of the last", 1, barrier_wait(b));
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    expect("threads that passed", 2, passed);
    barrier_destroy(b);
    end();

    begin("many-rounds");
    b = barrier_create(THREADS);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        pthread_create(&thread[i], NULL, run, &number[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    expect("threads that passed before all had arrived", 0, too_early);
    for (int r = 0; r < ROUNDS; r++)
        expect("threads of a round that got 1", 1, last[r]);
    barrier_destroy(b);
    end();

    return failures;
}
