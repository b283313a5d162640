#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct block {
    long start, size;
    struct block *next;
};

int give_back(struct block **list, long start, long size);
void drop_all(struct block **list);

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

static struct block *list;

/* Do the blocks of the list have these starts and sizes, and no more? */
static int list_is(int n, const long want[][2])
{
    const struct block *b = list;
    for (int i = 0; i < n; i++, b = b->next)
        if (b == NULL || b->start != want[i][0] || b->size != want[i][1])
            return 0;
    return b == NULL;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    check("into the empty list", 0, give_back(&list, 100, 50));
    check("one block", 1, list_is(1, (const long[][2]){{100, 50}}));
    check("at the tail", 0, give_back(&list, 300, 20));
    check("at the head", 0, give_back(&list, 0, 10));
    check("in the middle", 0, give_back(&list, 200, 30));
    check("four blocks", 1, list_is(4, (const long[][2]){{0, 10}, {100, 50}, {200, 30}, {300, 20}}));

    check("touches the block before", 0, give_back(&list, 150, 10));
    check("merged with the block before", 1, list_is(4, (const long[][2]){{0, 10}, {100, 60}, {200, 30}, {300, 20}}));
    check("touches the block behind", 0, give_back(&list, 290, 10));
    check("merged with the block behind", 1, list_is(4, (const long[][2]){{0, 10}, {100, 60}, {200, 30}, {290, 30}}));
    check("touches both", 0, give_back(&list, 160, 40));
    check("merged with both", 1, list_is(3, (const long[][2]){{0, 10}, {100, 130}, {290, 30}}));

    check("double free", -1, give_back(&list, 0, 10));
    check("inside a free block", -1, give_back(&list, 120, 5));
    check("overlaps the end of a block", -1, give_back(&list, 5, 20));
    check("overlaps the start of a block", -1, give_back(&list, 280, 20));
    check("covers a whole block", -1, give_back(&list, 90, 190));
    check("size 0", -1, give_back(&list, 50, 0));
    check("negative size", -1, give_back(&list, 50, -3));
    check("errors leave the list alone", 1, list_is(3, (const long[][2]){{0, 10}, {100, 130}, {290, 30}}));

    check("fill the first gap", 0, give_back(&list, 10, 90));
    check("fill the second gap", 0, give_back(&list, 230, 60));
    check("one block again", 1, list_is(1, (const long[][2]){{0, 320}}));
    drop_all(&list);
    check("dropped", 1, list == NULL);
    check("drop an empty list", 1, (drop_all(&list), list == NULL));

    for (long i = 0; i < 100; i += 2)
        give_back(&list, i, 1);
    for (long i = 1; i < 100; i += 2)
        give_back(&list, i, 1);
    check("a hundred pieces become one", 1, list_is(1, (const long[][2]){{0, 100}}));
    drop_all(&list);
    return failures;
}
