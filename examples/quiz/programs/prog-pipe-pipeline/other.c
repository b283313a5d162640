#define _POSIX_C_SOURCE 200809L
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct tube { int out, in; };  /* read end, write end */

static void shut(struct tube t)
{
    close(t.out);
    close(t.in);
}

/* Starts a command whose descriptor `as` is the descriptor `end` of the tube. */
static pid_t spawn(char *const words[], struct tube t, int end, int as)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    dup2(end, as);
    shut(t);
    execvp(words[0], words);
    _exit(127);
}

int pipeline(char *const left[], char *const right[])
{
    int ends[2];

    if (pipe(ends) != 0)
        return -1;
    struct tube t = {ends[0], ends[1]};

    pid_t writer = spawn(left, t, t.in, 1);
    if (writer == -1) {
        shut(t);
        return -1;
    }
    pid_t reader = spawn(right, t, t.out, 0);
    shut(t);

    int answer = -1;
    if (reader != -1) {
        int raw;
        waitpid(reader, &raw, 0);
        if (WIFEXITED(raw))
            answer = WEXITSTATUS(raw);
        else
            answer = 128 + WTERMSIG(raw);
    }
    waitpid(writer, NULL, 0);
    return answer;
}
