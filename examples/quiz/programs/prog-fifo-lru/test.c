#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int fifo_faults(const int refs[], int n, int frames);
int lru_faults(const int refs[], int n, int frames);

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
    const int book[] = {1, 6, 3, 4, 6, 5, 0, 1, 6, 0, 1, 4, 0, 5};
    const int belady[] = {1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5};
    const int zero[] = {0, 0, 7, 0};

    check("FIFO, book, 3 frames", 11, fifo_faults(book, 14, 3));
    check("LRU, book, 3 frames", 10, lru_faults(book, 14, 3));
    check("LRU, book, 4 frames", 9, lru_faults(book, 14, 4));
    check("LRU, book, 5 frames", 7, lru_faults(book, 14, 5));
    check("LRU, book, 6 frames", 6, lru_faults(book, 14, 6));
    check("FIFO, Belady, 3 frames", 9, fifo_faults(belady, 12, 3));
    check("FIFO, Belady, 4 frames", 10, fifo_faults(belady, 12, 4));
    check("LRU, Belady, 3 frames", 10, lru_faults(belady, 12, 3));
    check("LRU, Belady, 4 frames", 8, lru_faults(belady, 12, 4));
    check("FIFO, page 0", 2, fifo_faults(zero, 4, 2));
    check("LRU, page 0", 2, lru_faults(zero, 4, 2));
    check("FIFO, one frame", 3, fifo_faults(zero, 4, 1));
    check("LRU, one frame", 3, lru_faults(zero, 4, 1));
    check("FIFO, more frames than pages", 6, fifo_faults(book, 14, 100));
    check("LRU, more frames than pages", 6, lru_faults(book, 14, 100));
    check("FIFO, nothing referenced", 0, fifo_faults(book, 0, 3));
    check("LRU, nothing referenced", 0, lru_faults(book, 0, 3));
    check("FIFO, no frames", -1, fifo_faults(book, 14, 0));
    check("LRU, negative frames", -1, lru_faults(book, 14, -2));
    return failures;
}
