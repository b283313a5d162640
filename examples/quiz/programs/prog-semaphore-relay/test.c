#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct relay;
struct relay *relay_create(int threads);
void relay_run(struct relay *r, int who, int rounds, void (*step)(int who));
void relay_destroy(struct relay *r);

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

enum { MOST = 100 };
static struct relay *r;
static int rounds;
static atomic_int inside, together, steps;
static int order[MOST];

static void step(int who)
{
    if (++inside > 1)
        together++;
    nap_ms(3);
    int at = steps++;
    if (at < MOST)
        order[at] = who;
    inside--;
}

static void *run(void *arg)
{
    relay_run(r, *(int *)arg, rounds, step);
    return NULL;
}

static void race(const char *name, int threads, int how_many_rounds)
{
    pthread_t thread[8];
    int number[8];

    begin(name);
    steps = inside = together = 0;
    rounds = how_many_rounds;
    r = relay_create(threads);
    if (r == NULL) {
        expect("relay_create gave a relay", 1, 0);
        end();
        return;
    }
    for (int i = threads - 1; i >= 0; i--) {  /* the last one starts first */
        number[i] = i;
        pthread_create(&thread[i], NULL, run, &number[i]);
        nap_ms(2);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    relay_destroy(r);
    expect("number of steps", (long)threads * rounds, steps);
    for (int i = 0; i < steps; i++)
        expect("thread of a step", i % threads, order[i]);
    expect("steps that began during another step", 0, together);
    end();
}

int main(void)
{
    start();
    race("three-threads", 3, 20);
    race("two-threads", 2, 10);
    race("one-thread", 1, 3);
    race("six-threads", 6, 5);
    return failures;
}
