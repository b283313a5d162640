#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <errno.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

int reaper_install(void);
int reaper_count(void);

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

static void nap_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Starts a child that ends when the write end of the pipe is closed. */
static pid_t start_child(const int hold[2])
{
    char c;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        close(hold[1]);
        alarm(6);
        _exit(read(hold[0], &c, 1) == 0 ? 0 : 1);
    }
    return pid;
}

int main(void)
{
    int hold[2], other[2];
    sigset_t child, old;
    start();
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);

    begin("install");
    expect("return value", 0, reaper_install());
    expect("children reaped so far", 0, reaper_count());
    end();

    /* Five children end while the signal is blocked: it arrives once. */
    begin("five-children-one-signal");
    sigprocmask(SIG_BLOCK, &child, &old);
    if (pipe(hold) != 0)
        return 1;
    pid_t pids[5];
    for (int i = 0; i < 5; i++)
        pids[i] = start_child(hold);
    close(hold[0]);
    close(hold[1]);
    for (int i = 0; i < 5; i++) {
        siginfo_t info;
        waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    expect("children reaped", 5, reaper_count());
    int left = 0;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        left++;
    expect("zombies left", 0, left);
    end();

    /* One child ends, the other keeps running. */
    begin("does-not-wait-for-the-living");
    int before = reaper_count();
    if (pipe(hold) != 0)
        return 1;
    start_child(hold);
    if (pipe(other) != 0)  /* only now, so that the first child does not have it */
        return 1;
    start_child(other);
    close(other[0]);
    close(other[1]);
    for (int i = 0; i < 1000 && reaper_count() == before; i++)
        nap_ms(1);
    expect("children reaped", 1, reaper_count() - before);
    end();

    begin("errno-unchanged");
    errno = ERANGE;
    raise(SIGCHLD);
    expect("errno after the handler, while a child runs", ERANGE, errno);
    close(hold[0]);
    close(hold[1]);
    for (int i = 0; i < 1000 && reaper_count() == before + 1; i++)
        nap_ms(1);
    errno = ERANGE;
    raise(SIGCHLD);
    expect("errno after the handler, without a child", ERANGE, errno);
    end();

    /* A child ends while we wait in read(); another one writes later. */
    begin("read-is-restarted");
    char c = 0;
    if (pipe(other) != 0)
        return 1;
    if (fork() == 0) {
        nap_ms(50);
        _exit(0);
    }
    if (fork() == 0) {
        nap_ms(400);
        _exit(write(other[1], "x", 1) != 1);
    }
    ssize_t n = read(other[0], &c, 1);
    expect("return value of the interrupted read()", 1, n);
    end();

    for (int i = 0; i < 1000 && reaper_count() < before + 4; i++)
        nap_ms(1);
    return failures;
}
