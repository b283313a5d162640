#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LEVELS 3
#define PIDS 64 /* process numbers are 0 to 63 */

struct mlfq;

struct mlfq *mlfq_new(const int slice[LEVELS]);
void mlfq_free(struct mlfq *m);
void mlfq_add(struct mlfq *m, int pid);
int mlfq_next(struct mlfq *m, int *budget);
void mlfq_return(struct mlfq *m, int pid, int ran);
void mlfq_boost(struct mlfq *m);

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

static int budget;

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    struct mlfq *m = mlfq_new((const int[]){2, 4, 0});
    if (m == NULL) {
        printf("FAIL new: expected a pointer, got NULL\n");
        return 1;
    }
    check("empty", -1, mlfq_next(m, &budget));

    /* The book's example: P1 to P4 arrive at 0, 1, 3, 4 and need 6, 4, 2, 3. */
    mlfq_add(m, 1);
    check("P1 starts", 1, mlfq_next(m, &budget));
    check("budget at the top", 2, budget);
    mlfq_add(m, 2);
    mlfq_return(m, 1, 2);
    check("P2 is higher than P1", 2, mlfq_next(m, &budget));
    mlfq_add(m, 3);
    mlfq_add(m, 4);
    mlfq_return(m, 2, 2);
    check("P3 is next and ends", 3, mlfq_next(m, &budget));
    check("P4 is next", 4, mlfq_next(m, &budget));
    mlfq_return(m, 4, 2);
    check("second level, P1", 1, mlfq_next(m, &budget));
    check("budget of the second level", 4, budget);
    check("second level, P2", 2, mlfq_next(m, &budget));
    check("second level, P4", 4, mlfq_next(m, &budget));
    check("all have ended", -1, mlfq_next(m, &budget));

    /* Giving up early does not keep the level. */
    mlfq_add(m, 5);
    check("P5 starts", 5, mlfq_next(m, &budget));
    mlfq_return(m, 5, 1);
    check("P5 again", 5, mlfq_next(m, &budget));
    check("one unit is left", 1, budget);
    mlfq_return(m, 5, 1);
    mlfq_add(m, 6);
    check("P5 has dropped behind P6", 6, mlfq_next(m, &budget));
    check("P5 at the second level", 5, mlfq_next(m, &budget));
    check("the total starts anew", 4, budget);
    mlfq_return(m, 5, 4);
    check("P5 at the lowest level", 5, mlfq_next(m, &budget));
    check("unlimited", 0, budget);
    mlfq_return(m, 5, 100);
    check("P5 stays at the lowest level", 5, mlfq_next(m, &budget));
    check("still unlimited", 0, budget);

    /* Boost: 7 at the top, 8 at level 1 with 3 of 4 used, 5 at the lowest level. */
    mlfq_return(m, 5, 1);
    mlfq_add(m, 8);
    mlfq_next(m, &budget);
    mlfq_return(m, 8, 2);
    mlfq_next(m, &budget);
    mlfq_return(m, 8, 3);
    mlfq_add(m, 7);
    mlfq_next(m, &budget);
    mlfq_return(m, 7, 1);
    mlfq_boost(m);
    check("boost, the highest level first", 7, mlfq_next(m, &budget));
    check("boost, time of the top level is reset", 2, budget);
    check("boost, then level 1", 8, mlfq_next(m, &budget));
    check("boost, budget of the top level", 2, budget);
    mlfq_return(m, 8, 1);
    check("boost, then the lowest level", 5, mlfq_next(m, &budget));
    check("boost, the lowest gets the top budget", 2, budget);
    check("boost, 8 is still at the top", 8, mlfq_next(m, &budget));
    check("boost, 8 has 1 left", 1, budget);
    mlfq_free(m);

    /* 64 processes at once, many rounds, a limited lowest level. */
    m = mlfq_new((const int[]){1, 1, 3});
    for (int pid = 0; pid < PIDS; pid++)
        mlfq_add(m, pid);
    int wrong = 0;
    for (int round = 0; round < 50; round++)
        for (int pid = 0; pid < PIDS; pid++) {
            wrong += mlfq_next(m, &budget) != pid;
            wrong += budget != (round < 2 ? 1 : 3);
            mlfq_return(m, pid, round < 2 ? 1 : 3);
        }
    check("50 rounds with 64 processes", 0, wrong);
    mlfq_free(m);
    return failures;
}
