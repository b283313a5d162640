#include <stdlib.h>

struct proc {
    int arrival; /* procs are sorted by this */
    int burst;   /* at least 1 */
};

int round_robin(const struct proc procs[], int n, int quantum, int finish[]);

struct node {
    int remaining;
    int next; /* index of the one behind, -1 at the tail */
};

struct line {
    struct node *node;
    int first, last;
};

static void join(struct line *line, int who)
{
    line->node[who].next = -1;
    if (line->first == -1)
        line->first = who;
    else
        line->node[line->last].next = who;
    line->last = who;
}

static int leave(struct line *line)
{
    int who = line->first;
    line->first = line->node[who].next;
    return who;
}

/* Queue everybody who has come by `time`; return the next one still to come. */
static int admit(struct line *line, const struct proc procs[], int n, int coming, int time)
{
    while (coming < n && procs[coming].arrival <= time)
        join(line, coming++);
    return coming;
}

int round_robin(const struct proc procs[], int n, int quantum, int finish[])
{
    if (quantum < 1)
        return -1;
    if (n < 1)
        return 0;
    struct node *nodes = malloc((size_t)n * sizeof(struct node));
    if (!nodes)
        return -1;
    for (int i = 0; i < n; i++)
        nodes[i].remaining = procs[i].burst;
    struct line line = {nodes, -1, -1};

    int time = procs[0].arrival, pieces = 0;
    int coming = admit(&line, procs, n, 0, time);
    for (;;) {
        if (line.first == -1) {
            if (coming == n)
                break;
            time = procs[coming].arrival;
            coming = admit(&line, procs, n, coming, time);
        }
        int who = leave(&line);
        struct node *me = &line.node[who];
        ++pieces;
        if (me->remaining <= quantum) {
            time += me->remaining;
            finish[who] = time;
            coming = admit(&line, procs, n, coming, time);
        } else {
            time += quantum;
            me->remaining -= quantum;
            join(&line, who);
            coming = admit(&line, procs, n, coming, time);
        }
    }
    free(nodes);
    return pieces;
}
