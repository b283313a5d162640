#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct proc {
    int arrival; /* procs are sorted by this */
    int burst;   /* at least 1 */
};

int round_robin(const struct proc procs[], int n, int quantum, int finish[]);

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

static void check_all(const char *name, const int want[], const int got[], int n)
{
    for (int i = 0; i < n; i++)
        if (want[i] != got[i]) {
            printf("FAIL %s: expected %d at index %d, got %d\n", name, want[i], i, got[i]);
            failures++;
            return;
        }
    printf("ok %s\n", name);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    const struct proc book[] = {{0, 6}, {1, 4}, {3, 2}, {4, 3}};
    int finish[4] = {-1, -1, -1, -1};
    check("pieces, slice 2", 8, round_robin(book, 4, 2, finish));
    check_all("completion times, slice 2", (const int[]){14, 12, 8, 15}, finish, 4);
    check("pieces, slice 4", 5, round_robin(book, 4, 4, finish));
    check_all("completion times, slice 4", (const int[]){15, 8, 10, 13}, finish, 4);
    check("pieces, slice 6", 4, round_robin(book, 4, 6, finish));
    check_all("a long slice is first-come, first-served", (const int[]){6, 10, 12, 15}, finish, 4);
    check("pieces, slice 1", 15, round_robin(book, 4, 1, finish));

    const struct proc gap[] = {{2, 3}, {10, 1}};
    int gap_finish[2] = {-1, -1};
    check("pieces with idle time", 3, round_robin(gap, 2, 2, gap_finish));
    check_all("completion times with idle time", (const int[]){5, 11}, gap_finish, 2);

    const struct proc same[] = {{0, 4}, {0, 2}, {0, 1}};
    int same_finish[3] = {-1, -1, -1};
    check("ends exactly with its slice", 4, round_robin(same, 3, 2, same_finish));
    check_all("completion times of three that come together", (const int[]){7, 4, 5}, same_finish, 3);

    check("no process", 0, round_robin(book, 0, 2, finish));
    check("slice 0", -1, round_robin(book, 4, 0, finish));
    return failures;
}
