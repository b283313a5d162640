#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct rw;
struct rw *rw_create(void);
void rw_read_lock(struct rw *l);
void rw_read_unlock(struct rw *l);
void rw_write_lock(struct rw *l);
void rw_write_unlock(struct rw *l);
void rw_destroy(struct rw *l);

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

static struct rw *l;
static atomic_int readers, writers, most_readers, clashes, wanted, turn, writer_turn, reader_turn;

static void enter_read(void)
{
    int n = ++readers;
    if (writers)
        clashes++;
    if (n > most_readers)
        most_readers = n;
}

/* Stays inside until `wanted` readers have met there, for at most a second. */
static void *read_and_meet(void *arg)
{
    (void)arg;
    rw_read_lock(l);
    enter_read();
    for (int i = 0; i < 1000 && most_readers < wanted; i++)
        nap_ms(1);
    readers--;
    rw_read_unlock(l);
    return NULL;
}

static void *read_once(void *arg)
{
    (void)arg;
    rw_read_lock(l);
    reader_turn = ++turn;
    enter_read();
    readers--;
    rw_read_unlock(l);
    return NULL;
}

static void *write_once(void *arg)
{
    (void)arg;
    rw_write_lock(l);
    writer_turn = ++turn;
    if (++writers > 1 || readers)
        clashes++;
    nap_ms(5);
    writers--;
    rw_write_unlock(l);
    return NULL;
}

static void *mixed(void *arg)
{
    int me = *(int *)arg;
    for (int i = 0; i < 20; i++) {
        if ((i + me) % 4 == 0) {
            rw_write_lock(l);
            if (++writers > 1 || readers)
                clashes++;
            sched_yield();
            writers--;
            rw_write_unlock(l);
        } else {
            rw_read_lock(l);
            enter_read();
            nap_ms(1);
            readers--;
            rw_read_unlock(l);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[6];
    int number[6];
    start();
    l = rw_create();
    begin("create");
    expect("rw_create() gave a lock", 1, l != NULL);
    end();
    if (l == NULL)
        return failures;

    begin("readers-together");
    wanted = 3;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, read_and_meet, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    expect("readers inside at the same time", 3, most_readers);
    end();

    begin("writer-waits-for-reader");
    rw_read_lock(l);
    readers++;
    pthread_create(&thread[0], NULL, write_once, NULL);
    until_waiting(1);
    nap_ms(50);
    expect("writers inside while a reader is", 0, writer_turn);
    end();

    begin("waiting-writer-goes-first");
    pthread_create(&thread[1], NULL, read_once, NULL);
    until_waiting(2);
    nap_ms(50);
    expect("later readers inside while a writer waits", 0, reader_turn);
    readers--;
    rw_read_unlock(l);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    expect("turn of the writer", 1, writer_turn);
    expect("turn of the later reader", 2, reader_turn);
    end();

    begin("all-readers-after-a-writer");
    most_readers = 0;
    rw_write_lock(l);
    writers++;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, read_and_meet, NULL);
    until_waiting(3);
    expect("readers inside while a writer is", 0, most_readers);
    writers--;
    rw_write_unlock(l);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    expect("readers inside at the same time", 3, most_readers);
    end();

    begin("never-a-writer-with-others");
    for (int i = 0; i < 6; i++) {
        number[i] = i;
        pthread_create(&thread[i], NULL, mixed, &number[i]);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(thread[i], NULL);
    expect("times that a writer was not alone", 0, clashes);
    end();

    rw_destroy(l);
    return failures;
}
