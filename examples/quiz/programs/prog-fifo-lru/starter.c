#include <stdlib.h>

int fifo_faults(const int refs[], int n, int frames);
int lru_faults(const int refs[], int n, int frames);

/* Page faults under first in, first out; -1 for bad parameters. */
int fifo_faults(const int refs[], int n, int frames)
{
    /* 在此填写 / your code here */
    (void)refs, (void)n, (void)frames;
    return -1;
}

/* Page faults under least recently used; -1 for bad parameters. */
int lru_faults(const int refs[], int n, int frames)
{
    /* 在此填写 / your code here */
    (void)refs, (void)n, (void)frames;
    return -1;
}
