#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <string.h>

static volatile sig_atomic_t arrivals;

static void note(int which, siginfo_t *info, void *context)
{
    (void)which;
    (void)info;
    (void)context;
    arrivals = arrivals + 1;
}

static int install(int which, struct sigaction *before)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    return sigaction(which, &action, before) == 0;
}

int run_until_signal(int which, int (*body)(int number))
{
    struct sigaction before;
    int count = 0, go_on = 1;

    arrivals = 0;
    if (!install(which, &before))
        return -1;
    for (; go_on && arrivals == 0; count++)
        go_on = body(count) != 0;
    sigaction(which, &before, NULL);
    return count;
}
