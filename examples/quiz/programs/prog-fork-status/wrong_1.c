#define _POSIX_C_SOURCE 200809L
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int run_children(int n, int (*work)(int index), int result[])
{
    pid_t child[64];
    int started = 0;

    for (; started < n; started++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0)
            result[started] = work(started);
        else
            child[started] = pid;
    }
    for (int i = 0; i < started; i++) {
        int status;
        waitpid(child[i], &status, 0);
        if (WIFEXITED(status))
            result[i] = WEXITSTATUS(status);
        else if (WIFSIGNALED(status))
            result[i] = 128 + WTERMSIG(status);
    }
    return started == n ? 0 : -1;
}
