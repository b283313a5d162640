#include <stdlib.h>

long scan(const int req[], int n, int head, int last, int up, int order[]);
long c_look(const int req[], int n, int head, int order[]);

/* SCAN: fill in the order of service and return the distance. */
long scan(const int req[], int n, int head, int last, int up, int order[])
{
    /* 在此填写 / your code here */
    (void)req, (void)n, (void)head, (void)last, (void)up, (void)order;
    return -1;
}

/* C-LOOK upwards: fill in the order of service and return the distance. */
long c_look(const int req[], int n, int head, int order[])
{
    /* 在此填写 / your code here */
    (void)req, (void)n, (void)head, (void)order;
    return -1;
}
