#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <string.h>

enum { MAX_PROCESSES = 16, TYPES = 3 };

struct state {
    int processes;                        /* how many of the rows are used */
    int available[TYPES];
    int max[MAX_PROCESSES][TYPES];
    int allocation[MAX_PROCESSES][TYPES];
};

static bool can_finish(const struct state *s, int who, const int stock[TYPES])
{
    for (int k = TYPES; k-- > 0; )
        if (stock[k] < s->max[who][k] - s->allocation[who][k])
            return false;
    return true;
}

/* order[0 .. done-1] have finished; the others stand behind them. */
int is_safe(const struct state *s, int order[])
{
    int stock[TYPES], n = s->processes;

    memcpy(stock, s->available, sizeof stock);
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int done = 0; done < n; done++) {
        int next = done;
        while (next < n && !can_finish(s, order[next], stock))
            next++;
        if (next == n)
            return 0;
        int who = order[next];
        order[next] = order[done];
        order[done] = who;
        for (int k = 0; k < TYPES; k++)
            stock[k] += s->allocation[who][k];
    }
    return 1;
}
