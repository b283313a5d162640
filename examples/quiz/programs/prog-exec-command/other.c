#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(char *const words[])
{
    execvp(words[0], words);
    _exit(127);
}

static int outcome_of(pid_t child)
{
    int raw;

    while (waitpid(child, &raw, 0) == -1)
        if (errno != EINTR)
            return -1;
    if (WIFEXITED(raw))
        return WEXITSTATUS(raw);
    return WTERMSIG(raw) + 128;
}

int run_command(char *const argv[])
{
    pid_t child;

    switch (child = fork()) {
    case -1:
        return -1;
    case 0:
        become(argv);
    }
    return outcome_of(child);
}
