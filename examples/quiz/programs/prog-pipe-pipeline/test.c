#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
int pipeline(char *const left[], char *const right[]);

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

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

/* The tests execute this same program: "produce N" writes N blocks of 1000
   bytes, "count" reads to the end and ends with the number of blocks. */
static int produce(int blocks)
{
    static char block[1000];
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < blocks; i++)
        if (write(1, block, sizeof block) != (ssize_t)sizeof block)
            return 1;
    return 0;
}

static int count(void)
{
    static char block[4096];
    long total = 0;
    ssize_t n;
    while ((n = read(0, block, sizeof block)) > 0)
        total += n;
    return (int)(total / 1000);
}

int main(int argc, char *argv[])
{
    if (argc > 2 && strcmp(argv[1], "produce") == 0)
        return produce(atoi(argv[2]));
    if (argc > 1 && strcmp(argv[1], "count") == 0)
        return count();
    if (argc > 1 && strcmp(argv[1], "kill") == 0)
        return raise(SIGTERM);

    char *few[] = {argv[0], "produce", "3", NULL}, *many[] = {argv[0], "produce", "200", NULL};
    char *counter[] = {argv[0], "count", NULL}, *victim[] = {argv[0], "kill", NULL};
    char *missing[] = {"/nowhere/no-such-program", NULL};
    start();
    int before = open_files();

    begin("few-data");
    expect("exit code of the right command", 3, pipeline(few, counter));
    end();

    begin("more-than-the-pipe-holds");
    expect("exit code of the right command", 200, pipeline(many, counter));
    end();

    begin("nothing-left");
    expect("children left behind", 0, children_left());
    expect("open files", before, open_files());
    end();

    begin("cannot-execute");
    expect("return value if the right command is missing", 127, pipeline(few, missing));
    expect("return value if the left command is missing", 0, pipeline(missing, counter));
    end();

    begin("killed-by-signal");
    expect("return value", 128 + SIGTERM, pipeline(few, victim));
    end();

    begin("second-fork-fails");
    forks_left = 1;
    expect("return value", -1, pipeline(few, counter));
    expect("children left behind", 0, children_left());
    expect("open files", before, open_files());
    end();

    begin("pipe-fails");
    forks_left = 100;
    forks = 0;
    struct rlimit limit, none = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    none.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none);
    int rc = pipeline(few, counter);
    setrlimit(RLIMIT_NOFILE, &limit);
    expect("return value", -1, rc);
    expect("children created", 0, forks);
    end();

    return failures;
}
