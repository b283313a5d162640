#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#define MAX_FRAMES 16

enum { HIT = -2, LOADED = -1 };

struct ring {
    int size, hand;
    int page[MAX_FRAMES];               /* -1: empty */
    unsigned char accessed[MAX_FRAMES]; /* 0 or 1 */
};

void ring_init(struct ring *r, int size);
int ring_access(struct ring *r, int page);

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
    struct ring r = {.size = 9, .hand = 9, .page = {9, 9, 9}, .accessed = {1, 1, 1}};
    ring_init(&r, 3);
    check("init, size", 3, r.size);
    check("init, hand", 0, r.hand);
    check_all("init, empty", (const int[]){-1, -1, -1}, r.page, 3);
    check("init, accessed bits", 0, r.accessed[0] + r.accessed[1] + r.accessed[2]);

    const int book[] = {1, 6, 3, 4, 6, 5, 0, 1, 6, 0, 1, 4, 0, 5};
    int result[14], faults = 0;
    for (int i = 0; i < 14; i++) {
        result[i] = ring_access(&r, book[i]);
        faults += result[i] != HIT;
        if (i == 2) {
            check("three loaded, hand is back at 0", 0, r.hand);
            check("three loaded, all bits 1", 3, r.accessed[0] + r.accessed[1] + r.accessed[2]);
        }
        if (i == 3) {
            check("4 replaces 1, hand at 1", 1, r.hand);
            check_all("4 replaces 1, pages", (const int[]){4, 6, 3}, r.page, 3);
            check("4 replaces 1, bit of 4", 1, r.accessed[0]);
            check("4 replaces 1, other bits cleared", 0, r.accessed[1] + r.accessed[2]);
        }
        if (i == 5) {
            check_all("5 replaces 3, pages", (const int[]){4, 6, 5}, r.page, 3);
            check("5 replaces 3, 6 was spared", 0, r.accessed[1]);
            check("5 replaces 3, hand at 0", 0, r.hand);
        }
    }
    const int want[] = {LOADED, LOADED, LOADED, 1, HIT, 3, 6, 4, 5, HIT, HIT, 1, HIT, 6};
    check_all("the book's string, results", want, result, 14);
    check("the book's string, faults", 10, faults);

    ring_init(&r, 1);
    check("one frame, page 0 is loaded", LOADED, ring_access(&r, 0));
    check("one frame, hit", HIT, ring_access(&r, 0));
    check("one frame, page 0 is evicted", 0, ring_access(&r, 8));
    check("one frame, hand", 0, r.hand);

    ring_init(&r, MAX_FRAMES);
    for (int p = 0; p < MAX_FRAMES; p++)
        ring_access(&r, p);
    check("full size, first victim", 0, ring_access(&r, 100));
    check("full size, second victim", 1, ring_access(&r, 101));
    ring_access(&r, 2);
    check("full size, 2 is spared", 3, ring_access(&r, 102));
    return failures;
}
