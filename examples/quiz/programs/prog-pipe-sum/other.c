#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* One pipe and one process for each part. */
struct helper {
    pid_t id;
    int from;
};

static long add(const int *p, int count)
{
    long s = 0;
    while (count-- > 0)
        s += *p++;
    return s;
}

static int launch(struct helper *h, const int *p, int count)
{
    int ends[2];

    if (pipe(ends) != 0)
        return -1;
    h->from = ends[0];
    h->id = fork();
    if (h->id == 0) {
        long s = add(p, count);
        _exit(write(ends[1], &s, sizeof s) != (ssize_t)sizeof s);
    }
    close(ends[1]);
    if (h->id == -1) {
        close(ends[0]);
        return -1;
    }
    return 0;
}

static int collect(struct helper *h, long *total)
{
    long s = 0;
    ssize_t got = read(h->from, &s, sizeof s);

    close(h->from);
    waitpid(h->id, NULL, 0);
    *total += s;
    return got == (ssize_t)sizeof s ? 0 : -1;
}

int pipe_sum(const int *a, int n, int workers, long *sum)
{
    struct helper *team = malloc(sizeof *team * (size_t)workers);
    int size = 0, rc = 0, share = n / workers, more = n % workers;
    long total = 0;

    if (team == NULL)
        return -1;
    while (size < workers && rc == 0) {
        int count = share + (size < more);
        rc = launch(&team[size], a, count);
        if (rc == 0) {
            a += count;
            size++;
        }
    }
    for (int i = 0; i < size; i++)
        if (collect(&team[i], &total) != 0)
            rc = -1;
    free(team);
    if (rc == 0)
        *sum = total;
    return rc;
}
