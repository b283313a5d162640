#define _POSIX_C_SOURCE 200809L

enum { MAX_PROCESSES = 16, TYPES = 3 };

struct state {
    int processes;                        /* how many of the rows are used */
    int available[TYPES];
    int max[MAX_PROCESSES][TYPES];
    int allocation[MAX_PROCESSES][TYPES];
};

int is_safe(const struct state *s, int order[])
{
    int work[TYPES], finished[MAX_PROCESSES] = {0};
    int count = 0, progress = 1;

    for (int t = 0; t < TYPES; t++)
        work[t] = s->available[t];
    while (progress) {
        progress = 0;
        for (int p = 0; p < s->processes; p++) {
            if (finished[p])
                continue;
            int fits = 0;
            for (int t = 0; t < TYPES; t++)
                if (s->max[p][t] - s->allocation[p][t] <= work[t])
                    fits = 1;
            if (!fits)
                continue;
            for (int t = 0; t < TYPES; t++)
                work[t] += s->allocation[p][t];
            finished[p] = 1;
            order[count++] = p;
            progress = 1;
        }
    }
    return count == s->processes;
}
