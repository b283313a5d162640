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

struct entry {
    struct entry *behind;
    int level, remaining; /* remaining: 0 where the level is unlimited */
};

struct mlfq {
    int slice[LEVELS];
    struct entry *front[LEVELS];
    struct entry **end[LEVELS]; /* where the next one is hung */
    struct entry entry[PIDS];
};

static void append(struct mlfq *m, struct entry *e)
{
    e->behind = NULL;
    *m->end[e->level] = e;
    m->end[e->level] = &e->behind;
}

static void clear(struct mlfq *m, int level)
{
    m->front[level] = NULL;
    m->end[level] = &m->front[level];
}

struct mlfq *mlfq_new(const int slice[LEVELS])
{
    struct mlfq *m = calloc(1, sizeof(struct mlfq));
    if (!m)
        return NULL;
    for (int level = 0; level < LEVELS; level++) {
        m->slice[level] = slice[level];
        clear(m, level);
    }
    return m;
}

void mlfq_free(struct mlfq *m)
{
    free(m);
}

void mlfq_add(struct mlfq *m, int pid)
{
    m->entry[pid] = (struct entry){NULL, 0, m->slice[0]};
    append(m, &m->entry[pid]);
}

int mlfq_next(struct mlfq *m, int *budget)
{
    int level = 0;
    while (level < LEVELS && !m->front[level])
        level++;
    if (level == LEVELS)
        return -1;
    struct entry *e = m->front[level];
    if (e->behind)
        m->front[level] = e->behind;
    else
        clear(m, level);
    *budget = e->remaining;
    return (int)(e - m->entry);
}

void mlfq_return(struct mlfq *m, int pid, int ran)
{
    struct entry *e = &m->entry[pid];
    if (m->slice[e->level] > 0) {
        e->remaining -= ran;
        if (e->remaining <= 0) {
            e->level += e->level + 1 < LEVELS;
            e->remaining = m->slice[e->level];
        }
    }
    append(m, e);
}

void mlfq_boost(struct mlfq *m)
{
    struct entry *all[PIDS];
    int n = 0;
    for (int level = 0; level < LEVELS; level++) {
        for (struct entry *e = m->front[level]; e; e = e->behind)
            all[n++] = e;
        clear(m, level);
    }
    for (int i = 0; i < n; i++) {
        all[i]->level = 0;
        all[i]->remaining = m->slice[0];
        append(m, all[i]);
    }
}
