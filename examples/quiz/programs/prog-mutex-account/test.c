#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};
void account_open(struct account *a, long balance);
int account_deposit(struct account *a, long amount);
int account_withdraw(struct account *a, long amount);
long account_balance(struct account *a);
void account_close(struct account *a);

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

/* Stands in for the library's lock: it can wait a little first, so that other
   threads get a chance just before a critical section. */
static atomic_int pause_ms;

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (pause_ms)
        nap_ms(pause_ms);
    while (pthread_mutex_trylock(mutex) != 0)
        sched_yield();
    return 0;
}

static struct account shared;
static atomic_int done;

static void *take_all(void *arg)
{
    (void)arg;
    if (account_withdraw(&shared, 100) == 0)
        done++;
    return NULL;
}

static void *add_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < 50000; i++)
        account_deposit(&shared, 1);
    return NULL;
}

static void together(int n, void *(*body)(void *))
{
    pthread_t thread[8];
    for (int i = 0; i < n; i++)
        pthread_create(&thread[i], NULL, body, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

/* 1 if nobody held the lock; it is free afterwards in any case. */
static int is_free(struct account *a)
{
    int was_free = pthread_mutex_trylock(&a->lock) == 0;
    pthread_mutex_unlock(&a->lock);
    return was_free;
}

static void *add_one(void *arg)
{
    account_deposit(arg, 1);
    done++;
    return NULL;
}

static void *take_one(void *arg)
{
    account_withdraw(arg, 1);
    done++;
    return NULL;
}

static void *ask(void *arg)
{
    account_balance(arg);
    done++;
    return NULL;
}

/* While we hold the lock the others have to wait. */
static void holding(struct account *a, const char *what, void *(*body)(void *))
{
    pthread_t thread;
    done = 0;
    pthread_mutex_lock(&a->lock);
    long before = a->balance;
    pthread_create(&thread, NULL, body, a);
    nap_ms(60);
    expect(what, 0, done || a->balance != before);
    pthread_mutex_unlock(&a->lock);
    pthread_join(thread, NULL);
}

int main(void)
{
    struct account a;
    start();

    begin("one-thread");
    account_open(&a, 50);
    expect("deposit of 30", 0, account_deposit(&a, 30));
    expect("withdrawal of 80", 0, account_withdraw(&a, 80));
    expect("balance", 0, account_balance(&a));
    end();

    begin("refusals");
    expect("deposit of 0", -1, account_deposit(&a, 0));
    expect("lock free after it", 1, is_free(&a));
    expect("withdrawal of -5", -1, account_withdraw(&a, -5));
    expect("lock free after it", 1, is_free(&a));
    account_deposit(&a, 10);
    expect("withdrawal of 11 from 10", -1, account_withdraw(&a, 11));
    expect("lock free after it", 1, is_free(&a));
    expect("balance", 10, account_balance(&a));
    end();

    begin("waits-for-the-lock");
    holding(&a, "deposits while another thread holds the lock", add_one);
    holding(&a, "withdrawals while another thread holds the lock", take_one);
    holding(&a, "answers while another thread holds the lock", ask);
    account_close(&a);
    end();

    begin("only-one-can-take-it");
    account_open(&shared, 100);
    done = 0;
    pause_ms = 30;
    together(6, take_all);
    pause_ms = 0;
    expect("successful withdrawals of 100 from 100 by 6 threads", 1, done);
    expect("balance", 0, account_balance(&shared));
    account_close(&shared);
    end();

    begin("no-deposit-is-lost");
    account_open(&shared, 0);
    together(4, add_many);
    expect("balance after 4 x 50000 deposits of 1", 200000, account_balance(&shared));
    account_close(&shared);
    end();

    return failures;
}
