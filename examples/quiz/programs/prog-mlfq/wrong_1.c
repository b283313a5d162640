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

struct ring {
    int pid[PIDS];
    int head, count;
};

struct mlfq {
    int slice[LEVELS];
    struct ring ring[LEVELS];
    int level[PIDS];
    int used[PIDS]; /* time used at the present level */
};

static void push(struct mlfq *m, int pid)
{
    struct ring *r = &m->ring[m->level[pid]];
    r->pid[(r->head + r->count) % PIDS] = pid;
    r->count++;
}

static int pop(struct ring *r)
{
    int pid = r->pid[r->head];
    r->head = (r->head + 1) % PIDS;
    r->count--;
    return pid;
}

struct mlfq *mlfq_new(const int slice[LEVELS])
{
    struct mlfq *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    for (int k = 0; k < LEVELS; k++)
        m->slice[k] = slice[k];
    return m;
}

void mlfq_free(struct mlfq *m)
{
    free(m);
}

void mlfq_add(struct mlfq *m, int pid)
{
    m->level[pid] = 0;
    m->used[pid] = 0;
    push(m, pid);
}

int mlfq_next(struct mlfq *m, int *budget)
{
    for (int k = 0; k < LEVELS; k++) {
        if (m->ring[k].count > 0) {
            int pid = pop(&m->ring[k]);
            *budget = m->slice[k] == 0 ? 0 : m->slice[k] - m->used[pid];
            return pid;
        }
    }
    return -1;
}

void mlfq_return(struct mlfq *m, int pid, int ran)
{
    int slice = m->slice[m->level[pid]];
    if (slice != 0 && ran >= slice) {
        if (m->level[pid] < LEVELS - 1)
            m->level[pid]++;
        m->used[pid] = 0;
    }
    push(m, pid);
}

void mlfq_boost(struct mlfq *m)
{
    for (int i = 0; i < m->ring[0].count; i++)
        m->used[m->ring[0].pid[(m->ring[0].head + i) % PIDS]] = 0;
    for (int k = 1; k < LEVELS; k++) {
        while (m->ring[k].count > 0) {
            int pid = pop(&m->ring[k]);
            m->level[pid] = 0;
            m->used[pid] = 0;
            push(m, pid);
        }
    }
}
