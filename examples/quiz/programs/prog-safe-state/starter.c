#define _POSIX_C_SOURCE 200809L

enum { MAX_PROCESSES = 16, TYPES = 3 };

struct state {
    int processes;                        /* how many of the rows are used */
    int available[TYPES];
    int max[MAX_PROCESSES][TYPES];
    int allocation[MAX_PROCESSES][TYPES];
};

/* 1 and a safe sequence in order[0 .. processes-1], or 0. */
int is_safe(const struct state *s, int order[])
{
    /* TODO: your code here / 在这里填写 */
    (void)s;
    (void)order;
    return 0;
}
