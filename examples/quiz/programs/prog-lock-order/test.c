#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

struct account {
    int id;
    long balance;
    pthread_mutex_t lock;
};
int transfer(struct account *from, struct account *to, long amount);

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

/* Stands in for the library's lock: with pause_ms it rests a little after it
   has got the lock, so that threads meet between their first and second lock. */
static atomic_int pause_ms;

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    while (pthread_mutex_trylock(mutex) != 0)
        nap_ms(1);
    if (pause_ms)
        nap_ms(pause_ms);
    return 0;
}

static struct account account[4];
static atomic_int refused;

struct job {
    int from, to, times;
};

static void *run(void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < j->times; i++)
        if (transfer(&account[j->from], &account[j->to], 5) != 0)
            refused++;
    return NULL;
}

static struct job single = {0, 1, 1};

/* While we hold the lock of either account, no transfer may go on. */
static void holding(struct account *a, const char *what)
{
    pthread_t thread;
    pthread_mutex_lock(&a->lock);
    pthread_create(&thread, NULL, run, &single);
    nap_ms(60);
    expect(what, 0, account[0].balance != 100 || account[1].balance != 100);
    pthread_mutex_unlock(&a->lock);
    pthread_join(thread, NULL);
    expect("return value of the way back", 0, transfer(&account[1], &account[0], 5));
}

static void together(int n, struct job jobs[])
{
    pthread_t thread[8];
    for (int i = 0; i < n; i++)
        pthread_create(&thread[i], NULL, run, &jobs[i]);
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

int main(void)
{
    start();
    for (int i = 0; i < 4; i++) {
        account[i].id = 10 - i;
        account[i].balance = 100;
        pthread_mutex_init(&account[i].lock, NULL);
    }

    begin("one-thread");
    expect("return value", 0, transfer(&account[0], &account[1], 30));
    expect("balance of the source", 70, account[0].balance);
    expect("balance of the target", 130, account[1].balance);
    expect("return value, the other way round", 0, transfer(&account[1], &account[0], 30));
    expect("locks free", 1, is_free(&account[0]) && is_free(&account[1]));
    end();

    begin("refused");
    expect("return value of 101 from 100", -1, transfer(&account[0], &account[1], 101));
    expect("lock of the source free", 1, is_free(&account[0]));
    expect("lock of the target free", 1, is_free(&account[1]));
    expect("return value of 0", -1, transfer(&account[0], &account[1], 0));
    expect("return value of -1", -1, transfer(&account[0], &account[1], -1));
    expect("locks free", 1, is_free(&account[0]) && is_free(&account[1]));
    expect("balance of the source", 100, account[0].balance);
    expect("balance of the target", 100, account[1].balance);
    end();

    begin("all-of-it");
    expect("return value of 100 from 100", 0, transfer(&account[2], &account[3], 100));
    expect("balance of the source", 0, account[2].balance);
    transfer(&account[3], &account[2], 100);
    end();

    begin("same-account");
    expect("return value", 0, transfer(&account[0], &account[0], 40));
    expect("return value if there is too little", -1, transfer(&account[0], &account[0], 400));
    expect("balance", 100, account[0].balance);
    expect("lock free", 1, is_free(&account[0]));
    end();

    begin("waits-for-both-locks");
    holding(&account[0], "transfers while another thread holds the lock of the source");
    holding(&account[1], "transfers while another thread holds the lock of the target");
    end();

    begin("opposite-directions");
    pause_ms = 3;
    struct job two[] = {{0, 1, 10}, {1, 0, 10}};
    together(2, two);
    expect("refused transfers", 0, refused);
    end();

    begin("ring-of-three");
    struct job three[] = {{0, 1, 10}, {1, 2, 10}, {2, 0, 10}};
    together(3, three);
    end();

    begin("nothing-gets-lost");
    pause_ms = 0;
    struct job many[] = {{0, 1, 2000}, {1, 0, 2000}, {1, 2, 2000}, {2, 3, 2000}, {3, 0, 2000}, {0, 2, 2000}};
    together(6, many);
    long total = 0;
    for (int i = 0; i < 4; i++) {
        total += account[i].balance;
        expect("a balance is not below 0", 1, account[i].balance >= 0);
    }
    expect("sum of all balances", 400, total);
    end();

    return failures;
}
