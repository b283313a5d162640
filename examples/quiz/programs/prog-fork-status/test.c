#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
int run_children(int n, int (*work)(int index), int result[]);

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
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);  /* children that still wait */
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
    setpgid(0, 0);
}

/* Stands in for the library's fork(), so that a test can make it fail. */
static int forks_left = 1000, forks;

pid_t fork(void)
{
    if (forks_left-- <= 0) {
        errno = EAGAIN;
        return -1;
    }
    forks++;
    return _Fork();
}

/* 0 when no child is left, neither running nor as a zombie. */
static int children_left(void)
{
    return !(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void nap_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static int triple(int index) { return 3 * index; }

static int to_left[2], to_right[2];

/* Child 0 and child 1 wait for each other. */
static int meet(int index)
{
    char c = 'x';
    signal(SIGALRM, SIG_DFL);
    alarm(2);
    if (write(index == 0 ? to_right[1] : to_left[1], &c, 1) != 1)
        return 1;
    return read(index == 0 ? to_left[0] : to_right[0], &c, 1) == 1 ? 10 + index : 2;
}

/* Child 0 ends only after child 2 has spoken. */
static int late_first(int index)
{
    char c = 'x';
    signal(SIGALRM, SIG_DFL);
    alarm(2);
    if (index == 2 && write(to_left[1], &c, 1) != 1)
        return 1;
    if (index == 0) {
        if (read(to_left[0], &c, 1) != 1)
            return 2;
        nap_ms(300);
    }
    return 20 + index;
}

static int die(int index)
{
    if (index == 1)
        raise(SIGKILL);
    return index;
}

int main(void)
{
    int result[8];
    start();

    begin("exit-codes");
    memset(result, -1, sizeof result);
    expect("return value", 0, run_children(4, triple, result));
    expect("result[0]", 0, result[0]);
    expect("result[1]", 3, result[1]);
    expect("result[3]", 9, result[3]);
    expect("children left behind", 0, children_left());
    end();

    begin("same-time");
    if (pipe(to_left) || pipe(to_right))
        return 1;
    memset(result, -1, sizeof result);
    run_children(2, meet, result);
    expect("result[0] of two children that wait for each other", 10, result[0]);
    expect("result[1] of two children that wait for each other", 11, result[1]);
    end();

    begin("by-index");
    memset(result, -1, sizeof result);
    run_children(3, late_first, result);
    expect("result[0] when child 0 ends last", 20, result[0]);
    expect("result[1] when child 0 ends last", 21, result[1]);
    expect("result[2] when child 0 ends last", 22, result[2]);
    end();

    begin("killed-by-signal");
    memset(result, -1, sizeof result);
    run_children(3, die, result);
    expect("result[0]", 0, result[0]);
    expect("result[1] after SIGKILL", 128 + SIGKILL, result[1]);
    expect("result[2]", 2, result[2]);
    end();

    begin("no-children");
    expect("return value for n = 0", 0, run_children(0, triple, result));
    end();

    begin("fork-fails");
    forks_left = 2;
    memset(result, -1, sizeof result);
    expect("return value when the third fork fails", -1, run_children(4, triple, result));
    expect("result[1]", 3, result[1]);
    expect("children left behind", 0, children_left());
    end();

    return failures;
}
