#include <stdlib.h>

struct proc {
    int arrival; /* procs are sorted by this */
    int burst;   /* at least 1 */
};

int round_robin(const struct proc procs[], int n, int quantum, int finish[]);

/* Simulate round robin; return the number of pieces that ran, or -1. */
int round_robin(const struct proc procs[], int n, int quantum, int finish[])
{
    /* 在此填写 / your code here */
    (void)procs, (void)n, (void)quantum, (void)finish;
    return -1;
}
