#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

struct job {
    int arrival; /* time at which the job becomes ready */
    int burst;   /* how long it runs, at least 1 */
    int done;    /* 1 once it has run */
};

int next_job(const struct job jobs[], int n, int now);
long run_sjf(struct job jobs[], int n, long waiting[]);

static int failures;

/* One line for each case: `ok NAME` or `FAIL NAME: what was expected, what came`. */
static void check(const char *name, long long want, long long got)
{
    if (want == got) {
        printf("ok %s\n", name);
    } else {
        printf("FAIL %s: expected %lld, got %lld\n", name, want, got);
        failures++;
    }
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    struct job book[] = {{0, 6, 0}, {1, 4, 0}, {3, 2, 0}, {4, 3, 0}};
    check("first job at time 0", 0, next_job(book, 4, 0));
    book[0].done = 1;
    check("shortest of three", 2, next_job(book, 4, 6));
    check("one that has not arrived does not count", 1, next_job(book, 4, 2));
    book[0].done = 0;
    long wait[4] = {-1, -1, -1, -1};
    check("total of the book's example", 17, run_sjf(book, 4, wait));
    check("P1 waits", 0, wait[0]);
    check("P2 waits", 10, wait[1]);
    check("P3 waits", 3, wait[2]);
    check("P4 waits", 4, wait[3]);
    check("all are done", -1, next_job(book, 4, 100));

    struct job ties[] = {{2, 3, 0}, {1, 3, 0}, {1, 3, 0}};
    check("equal bursts, earlier arrival", 1, next_job(ties, 3, 5));
    ties[1].arrival = 2;
    ties[2].arrival = 2;
    check("all equal, smaller index", 0, next_job(ties, 3, 5));

    struct job gap[] = {{9, 2, 0}, {3, 1, 0}, {9, 1, 0}};
    long gap_wait[3] = {-1, -1, -1};
    check("total with idle time", 1, run_sjf(gap, 3, gap_wait));
    check("after idle time the longer job waits", 1, gap_wait[0]);
    check("no waiting after idle time", 0, gap_wait[1]);
    check("after idle time the shorter job goes first", 0, gap_wait[2]);

    struct job late[] = {{5, 1, 0}};
    check("nobody has arrived", -1, next_job(late, 1, 4));
    check("arrives just now", 0, next_job(late, 1, 5));
    return failures;
}
