#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stddef.h>
#include <stdio.h>

static int stop;

static void on_signal(int signo)
{
    printf("signal %d\n", signo);
    stop = 1;
}

int run_until_signal(int signo, int (*step)(int number))
{
    struct sigaction new = {0}, old;
    int steps = 0;

    stop = 0;
    new.sa_handler = on_signal;
    sigemptyset(&new.sa_mask);
    sigaction(signo, &new, &old);
    while (!stop) {
        int more = step(steps++);
        if (!more)
            break;
    }
    sigaction(signo, &old, NULL);
    return steps;
}
