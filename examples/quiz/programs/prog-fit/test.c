#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

struct hole {
    long start, size;
};

enum fit { FIRST_FIT, BEST_FIT };

long place(struct hole holes[], int *n, long size, enum fit how);

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
    const struct hole book[5] = {{0, 560}, {1000, 160}, {2000, 200}, {3000, 420}, {4000, 280}};
    struct hole h[5];
    int n = 5;

    for (int i = 0; i < 5; i++)
        h[i] = book[i];
    check("first fit 240", 0, place(h, &n, 240, FIRST_FIT));
    check("rest starts at", 240, h[0].start);
    check("rest has size", 320, h[0].size);
    check("first fit 100", 240, place(h, &n, 100, FIRST_FIT));
    check("first fit 420 fits exactly", 3000, place(h, &n, 420, FIRST_FIT));
    check("the hole is gone", 4, n);
    check("the next hole moved forward", 4000, h[3].start);
    check("first fit 430 fails", -1, place(h, &n, 430, FIRST_FIT));
    check("failure keeps the holes", 4, n);
    check("failure keeps the sizes", 220, h[0].size);

    n = 5;
    for (int i = 0; i < 5; i++)
        h[i] = book[i];
    check("best fit 240", 4000, place(h, &n, 240, BEST_FIT));
    check("40 are left", 40, h[4].size);
    check("best fit 100", 1000, place(h, &n, 100, BEST_FIT));
    check("best fit 420", 3000, place(h, &n, 420, BEST_FIT));
    check("best fit 430", 0, place(h, &n, 430, BEST_FIT));
    check("four holes are left", 4, n);
    check("first hole starts at", 430, h[0].start);
    check("last hole starts at", 4240, h[3].start);

    struct hole ties[3] = {{0, 50}, {100, 30}, {200, 30}};
    n = 3;
    check("best fit takes the lower address", 100, place(ties, &n, 20, BEST_FIT));
    check("size 0", -1, place(ties, &n, 0, FIRST_FIT));
    check("negative size", -1, place(ties, &n, -5, BEST_FIT));

    struct hole *none = ties;
    n = 0;
    check("no hole at all", -1, place(none, &n, 1, BEST_FIT));

    struct hole last[2] = {{0, 5}, {10, 7}};
    n = 2;
    check("last hole used up", 10, place(last, &n, 7, FIRST_FIT));
    check("one is left", 1, n);
    check("only hole used up", 0, place(last, &n, 5, BEST_FIT));
    check("none is left", 0, n);
    return failures;
}
