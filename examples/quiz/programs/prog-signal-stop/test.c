#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int run_until_signal(int signo, int (*step)(int number));

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

static volatile sig_atomic_t mine;

static void my_handler(int signo)
{
    (void)signo;
    mine++;
}

static int seen[200], calls;

static int remember(int number)
{
    if (calls < 200)
        seen[calls++] = number;
    return number < 100;  /* a program that does not stop is stopped here */
}

static int raise_at_2(int number)
{
    if (number == 2)
        raise(SIGUSR1);
    return remember(number);
}

static int raise_at_0(int number)
{
    if (number == 0)
        raise(SIGTERM);
    return remember(number);
}

static int end_at_4(int number)
{
    remember(number);
    return number < 4;
}

int main(void)
{
    start();
    signal(SIGUSR1, my_handler);

    begin("stops-at-the-signal");
    expect("steps when step 2 raises the signal", 3, run_until_signal(SIGUSR1, raise_at_2));
    for (int i = 0; i < 3; i++)
        expect("number of a step", i, seen[i]);
    expect("calls of step", 3, calls);
    end();

    begin("step-ends-it");
    calls = 0;
    expect("steps in a second run, when step 4 returns 0", 5, run_until_signal(SIGUSR1, end_at_4));
    expect("calls of step", 5, calls);
    end();

    begin("former-handler-restored");
    expect("calls of the former handler so far", 0, mine);
    struct sigaction now;
    sigaction(SIGUSR1, NULL, &now);
    expect("former handler is registered", 1, !(now.sa_flags & SA_SIGINFO) && now.sa_handler == my_handler);
    if (now.sa_handler != SIG_DFL)
        raise(SIGUSR1);
    expect("calls of the former handler", 1, mine);
    end();

    begin("another-signal");
    expect("steps when step 0 raises SIGTERM", 1, run_until_signal(SIGTERM, raise_at_0));
    end();

    begin("cannot-be-caught");
    calls = 0;
    expect("return value for SIGKILL", -1, run_until_signal(SIGKILL, end_at_4));
    expect("calls of step", 0, calls);
    end();

    return failures;
}
