#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stop;

static void on_signal(int signo)
{
    (void)signo;
    stop = 1;
}

int run_until_signal(int signo, int (*step)(int number))
{
    struct sigaction new = {0}, old;
    int steps = 0;

    stop = 0;
    new.sa_handler = on_signal;
    sigemptyset(&new.sa_mask);
    if (sigaction(signo, &new, &old) < 0)
        return -1;
    while (!stop) {
        int more = step(steps++);
        if (!more)
            break;
    }
    signal(signo, SIG_DFL);
    return steps;
}
