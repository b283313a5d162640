#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct buddy;

struct buddy *buddy_new(int max_order);
void buddy_delete(struct buddy *b);
long buddy_alloc(struct buddy *b, long units);
int buddy_release(struct buddy *b, long start);

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
    struct buddy *b = buddy_new(10);
    if (b == NULL) {
        printf("FAIL new: expected a pointer, got NULL\n");
        return 1;
    }
    /* The example of the book. */
    check("A = 100", 0, buddy_alloc(b, 100));
    check("B = 200", 256, buddy_alloc(b, 200));
    check("C = 60", 128, buddy_alloc(b, 60));
    check("D = 250", 512, buddy_alloc(b, 250));
    check("free B, no merge", 8, buddy_release(b, 256));
    check("free A, no merge", 7, buddy_release(b, 0));
    check("free C, three merges", 9, buddy_release(b, 128));
    check("free D, two merges", 10, buddy_release(b, 512));
    check("everything again", 0, buddy_alloc(b, 1024));
    check("nothing is left", -1, buddy_alloc(b, 1));
    check("free everything", 10, buddy_release(b, 0));

    check("exact power of two", 0, buddy_alloc(b, 128));
    check("directly behind it", 128, buddy_alloc(b, 64));
    check("and behind that", 192, buddy_alloc(b, 33));
    check("free the lower 64", 6, buddy_release(b, 128));
    check("a smaller block at the buddy's address", 7, buddy_release(b, 0));
    check("smallest sufficient block", 128, buddy_alloc(b, 50));
    check("lowest address", 0, buddy_alloc(b, 65));
    check("free it again", 7, buddy_release(b, 0));
    check("free 128", 6, buddy_release(b, 128));
    check("all merges at the end", 10, buddy_release(b, 192));

    /* Neighbours that are no buddies. */
    int quarters = 0;
    for (long i = 0; i < 4; i++)
        quarters += buddy_alloc(b, 256) == i * 256;
    check("four quarters, lowest first", 4, quarters);
    check("free the second quarter", 8, buddy_release(b, 256));
    check("the third quarter is not its buddy", 8, buddy_release(b, 512));
    check("512 cannot be had", -1, buddy_alloc(b, 512));
    check("the fourth merges with the third", 9, buddy_release(b, 768));
    check("the first merges everything", 10, buddy_release(b, 0));

    check("size 0", -1, buddy_alloc(b, 0));
    check("negative size", -1, buddy_alloc(b, -1));
    check("too large", -1, buddy_alloc(b, 1025));
    check("5 units", 0, buddy_alloc(b, 5));
    check("not a start", -1, buddy_release(b, 4));
    check("start of a free block", -1, buddy_release(b, 8));
    check("outside", -1, buddy_release(b, 1024));
    check("negative start", -1, buddy_release(b, -1));
    check("right free", 10, buddy_release(b, 0));
    check("double free", -1, buddy_release(b, 0));
    buddy_delete(b);

    b = buddy_new(0);
    check("one unit", 0, buddy_alloc(b, 1));
    check("no second unit", -1, buddy_alloc(b, 1));
    check("free one unit", 0, buddy_release(b, 0));
    buddy_delete(b);
    check("order too high", 1, buddy_new(21) == NULL);
    check("negative order", 1, buddy_new(-1) == NULL);
    return failures;
}
