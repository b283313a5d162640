#define _POSIX_C_SOURCE 200809L
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int pipeline(char *const left[], char *const right[])
{
    int fd[2], status = 0;

    if (pipe(fd) < 0)
        return -1;

    pid_t first = fork();
    if (first == 0) {
        dup2(fd[1], STDOUT_FILENO);
        close(fd[0]);
        close(fd[1]);
        execvp(left[0], left);
        _exit(127);
    }

    if (first > 0)
        waitpid(first, NULL, 0);  /* left first, then right */
    pid_t second = first < 0 ? -1 : fork();
    if (second == 0) {
        dup2(fd[0], STDIN_FILENO);
        close(fd[0]);
        close(fd[1]);  /* or we would wait for our own end of file */
        execvp(right[0], right);
        _exit(127);
    }

    close(fd[0]);
    close(fd[1]);
    if (second < 0)
        return -1;
    waitpid(second, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
