#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
int run_command(char *const argv[]);

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

/* The tests execute this same program with a word that says how to end. */
static int act(const char *word)
{
    if (strcmp(word, "kill") == 0)
        raise(SIGTERM);
    return atoi(word);
}

int main(int argc, char *argv[])
{
    if (argc > 1)
        return act(argv[1]);
    start();

    char path[512];
    snprintf(path, sizeof path, "%s", argv[0]);
    char *slash = strrchr(path, '/');

    begin("exit-code");
    expect("return value of a command that ends with 7", 7, run_command((char *[]){argv[0], "7", NULL}));
    expect("return value of a command that ends with 0", 0, run_command((char *[]){argv[0], "0", NULL}));
    end();

    begin("no-zombie");
    expect("children left behind", 0, children_left());
    end();

    begin("killed-by-signal");
    expect("return value after SIGTERM", 128 + SIGTERM, run_command((char *[]){argv[0], "kill", NULL}));
    end();

    begin("no-such-program");
    expect("return value", 127, run_command((char *[]){"/nowhere/no-such-program", NULL}));
    end();

    begin("search-in-path");
    if (slash != NULL) {
        *slash = 0;
        setenv("PATH", path, 1);
        expect("return value", 5, run_command((char *[]){slash + 1, "5", NULL}));
    }
    end();

    begin("fork-fails");
    forks_left = 0;
    expect("return value", -1, run_command((char *[]){argv[0], "0", NULL}));
    end();

    return failures;
}
