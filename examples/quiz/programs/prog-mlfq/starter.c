#include <stdlib.h>

#define LEVELS 3
#define PIDS 64 /* process numbers are 0 to 63 */

struct mlfq;

struct mlfq *mlfq_new(const int slice[LEVELS]);
void mlfq_free(struct mlfq *m);
void mlfq_add(struct mlfq *m, int pid);
int mlfq_next(struct mlfq *m, int *budget);
void mlfq_return(struct mlfq *m, int pid, int ran);
void mlfq_boost(struct mlfq *m);

struct mlfq {
    int slice[LEVELS];
    /* 在此填写 / your fields here */
};

struct mlfq *mlfq_new(const int slice[LEVELS])
{
    /* 在此填写 / your code here */
    (void)slice;
    return NULL;
}

void mlfq_free(struct mlfq *m)
{
    /* 在此填写 / your code here */
    (void)m;
}

void mlfq_add(struct mlfq *m, int pid)
{
    /* 在此填写 / your code here */
    (void)m, (void)pid;
}

int mlfq_next(struct mlfq *m, int *budget)
{
    /* 在此填写 / your code here */
    (void)m, (void)budget;
    return -1;
}

void mlfq_return(struct mlfq *m, int pid, int ran)
{
    /* 在此填写 / your code here */
    (void)m, (void)pid, (void)ran;
}

void mlfq_boost(struct mlfq *m)
{
    /* 在此填写 / your code here */
    (void)m;
}
