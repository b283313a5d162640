#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static int decode(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void store(const pid_t *ids, int count, pid_t who, int value, int *result)
{
    for (int k = 0; k < count; k++)
        if (ids[k] == who)
            result[k] = value;
}

int run_children(int n, int (*work)(int index), int result[])
{
    pid_t *ids = calloc((size_t)n + 1, sizeof *ids);
    int count = 0, failed = 0;

    if (ids == NULL)
        return -1;
    while (count < n && !failed) {
        switch (ids[count] = fork()) {
        case -1:
            failed = 1;
            break;
        case 0: {
            int code = work(count);
            free(ids);
            _exit(code);
        }
        default:
            count++;
        }
    }
    for (int left = count; left > 0; ) {
        int status;
        pid_t who = waitpid(-1, &status, 0);
        if (who == -1 && errno == EINTR)
            continue;
        if (who == -1)
            break;
        store(ids, count, who, decode(status), result);
        left--;
    }
    free(ids);
    return failed ? -1 : 0;
}
