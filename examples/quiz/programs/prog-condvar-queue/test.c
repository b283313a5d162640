#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct queue;
struct queue *queue_create(int capacity);
int queue_put(struct queue *q, int item);
int queue_get(struct queue *q, int *item);
void queue_close(struct queue *q);
void queue_destroy(struct queue *q);

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

static struct queue *q;
static atomic_int put_count, got_none, refused, taken[400];

static void *put_five(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        if (queue_put(q, i) != 0)
            refused++;
        else
            put_count++;
    }
    return NULL;
}

static void *get_one(void *arg)
{
    int item = -1;
    (void)arg;
    if (queue_get(q, &item) == -1)
        got_none++;
    return NULL;
}

static void *produce(void *arg)
{
    int first = *(int *)arg;
    for (int i = first; i < first + 200; i++)
        queue_put(q, i);
    return NULL;
}

static void *consume(void *arg)
{
    int item;
    (void)arg;
    while (queue_get(q, &item) == 0)
        if (item >= 0 && item < 400)
            taken[item]++;
    return NULL;
}

int main(void)
{
    pthread_t thread[8];
    int item = -1, firsts[2] = {0, 200};
    start();

    begin("first-in-first-out");
    q = queue_create(3);
    if (q == NULL) {
        expect("queue_create(3) gave a queue", 1, 0);
        end();
        return failures;
    }
    for (int i = 0; i < 10; i++) {
        expect("put", 0, queue_put(q, 100 + i));
        expect("put", 0, queue_put(q, 200 + i));
        expect("get", 0, queue_get(q, &item));
        expect("item", 100 + i, item);
        expect("get", 0, queue_get(q, &item));
        expect("item", 200 + i, item);
    }
    queue_destroy(q);
    end();

    begin("put-waits-while-full");
    q = queue_create(2);
    pthread_create(&thread[0], NULL, put_five, NULL);
    until_waiting(1);
    nap_ms(20);
    expect("items put into a queue of 2", 2, put_count);
    for (int i = 0; i < 5; i++) {
        expect("get", 0, queue_get(q, &item));
        expect("item", i, item);
    }
    pthread_join(thread[0], NULL);
    queue_destroy(q);
    end();

    begin("close-wakes-all-consumers");
    q = queue_create(2);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, get_one, NULL);
    until_waiting(3);
    queue_close(q);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    expect("consumers that got -1", 3, got_none);
    queue_destroy(q);
    end();

    begin("close-wakes-all-producers");
    q = queue_create(1);
    queue_put(q, 7);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, put_five, NULL);
    until_waiting(2);
    queue_close(q);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    expect("refused puts", 10, refused);
    end();

    begin("what-is-left-can-be-taken");
    expect("get from the closed queue", 0, queue_get(q, &item));
    expect("item", 7, item);
    expect("get from the closed, empty queue", -1, queue_get(q, &item));
    expect("put into the closed queue", -1, queue_put(q, 8));
    queue_destroy(q);
    end();

    begin("every-item-once");
    q = queue_create(4);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, produce, &firsts[i]);
    for (int i = 2; i < 5; i++)
        pthread_create(&thread[i], NULL, consume, NULL);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    queue_close(q);
    for (int i = 2; i < 5; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 400; i++)
        expect("how often an item was taken", 1, taken[i]);
    queue_destroy(q);
    end();

    return failures;
}
