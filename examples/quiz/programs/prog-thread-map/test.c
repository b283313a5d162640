#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <string.h>
int thread_map(const int *in, long *out, int n, int threads, long (*f)(int));

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

static long square(int x) { return (long)x * x; }

static long slow(int x)
{
    nap_ms(20);
    return x + 1;
}

/* Waits, for at most a second, until `wanted` calls are under way. */
static atomic_int inside, most;

static long meet(int wanted)
{
    int now = ++inside;
    if (now > most)
        most = now;
    for (int i = 0; i < 1000 && most < wanted; i++)
        nap_ms(1);
    inside--;
    return wanted;
}

int main(void)
{
    static int in[1003];
    static long out[1004];
    start();
    for (int i = 0; i < 1003; i++)
        in[i] = i - 500;

    begin("one-thread");
    memset(out, -1, sizeof out);
    expect("return value", 0, thread_map(in, out, 1003, 1, square));
    for (int i = 0; i < 1003; i++)
        expect("out[i]", square(in[i]), out[i]);
    end();

    begin("uneven-parts");
    memset(out, -1, sizeof out);
    expect("return value", 0, thread_map(in, out, 1003, 4, square));
    for (int i = 0; i < 1003; i++)
        expect("out[i], 1003 elements and 4 threads", square(in[i]), out[i]);
    expect("element behind the end", -1, out[1003]);
    end();

    begin("more-threads-than-elements");
    memset(out, -1, sizeof out);
    expect("return value", 0, thread_map(in, out, 3, 8, square));
    for (int i = 0; i < 3; i++)
        expect("out[i]", square(in[i]), out[i]);
    end();

    begin("results-are-there-on-return");
    memset(out, -1, sizeof out);
    thread_map(in, out, 8, 4, slow);
    for (int i = 0; i < 8; i++)
        expect("out[i] of a slow function", in[i] + 1, out[i]);
    end();

    begin("same-time");
    int wanted[4] = {4, 4, 4, 4};
    thread_map(wanted, out, 4, 4, meet);
    expect("calls of f under way at the same time", 4, most);
    end();

    return failures;
}
