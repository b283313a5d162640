#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
int pipe_sum(const int *a, int n, int workers, long *sum);

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

/* Stands in for the library's fork(): it can fail, and a child can die at once. */
static int forks_left = 1000, forks, dying = -1;

pid_t fork(void)
{
    if (forks_left-- <= 0) {
        errno = EAGAIN;
        return -1;
    }
    pid_t pid = _Fork();
    if (pid == 0 && forks == dying)
        _exit(1);
    forks++;
    return pid;
}

/* 0 when no child is left, neither running nor as a zombie. */
static int children_left(void)
{
    return !(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

int main(void)
{
    static int a[1003];
    long sum = -1, wanted = 0;
    for (int i = 0; i < 1003; i++) {
        a[i] = i * 7 - 300;
        wanted += a[i];
    }
    start();
    int before = open_files();

    begin("one-worker");
    expect("return value", 0, pipe_sum(a, 1003, 1, &sum));
    expect("sum", wanted, sum);
    end();

    begin("uneven-parts");
    sum = -1;
    forks = 0;
    expect("return value", 0, pipe_sum(a, 1003, 4, &sum));
    expect("sum of 1003 elements with 4 workers", wanted, sum);
    expect("children created", 4, forks);
    end();

    begin("more-workers-than-elements");
    sum = -1;
    expect("return value", 0, pipe_sum(a, 3, 5, &sum));
    expect("sum", (long)a[0] + a[1] + a[2], sum);
    end();

    begin("empty-array");
    sum = -1;
    expect("return value", 0, pipe_sum(a, 0, 2, &sum));
    expect("sum", 0, sum);
    end();

    begin("nothing-left");
    expect("children left behind", 0, children_left());
    expect("open files", before, open_files());
    end();

    begin("a-child-dies");
    forks = 0;
    dying = 1;
    expect("return value", -1, pipe_sum(a, 1003, 3, &sum));
    expect("children left behind", 0, children_left());
    dying = -1;
    end();

    begin("fork-fails");
    forks_left = 2;
    expect("return value", -1, pipe_sum(a, 1003, 3, &sum));
    expect("children left behind", 0, children_left());
    expect("open files", before, open_files());
    forks_left = 1000;
    end();

    begin("pipe-fails");
    struct rlimit limit, none = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    none.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none);
    int rc = pipe_sum(a, 1003, 2, &sum);
    setrlimit(RLIMIT_NOFILE, &limit);
    expect("return value", -1, rc);
    end();

    return failures;
}
