#include <stdlib.h>

struct proc {
    int arrival; /* procs are sorted by this */
    int burst;   /* at least 1 */
};

int round_robin(const struct proc procs[], int n, int quantum, int finish[]);

int round_robin(const struct proc procs[], int n, int quantum, int finish[])
{
    if (quantum <= 0 || n < 0)
        return -1;
    if (n == 0)
        return 0;
    int *left = malloc(n * sizeof *left);
    int *queue = malloc(n * sizeof *queue); /* ring: a process is in it at most once */
    if (left == NULL || queue == NULL) {
        free(left);
        free(queue);
        return -1;
    }
    for (int i = 0; i < n; i++)
        left[i] = procs[i].burst;

    int head = 0, count = 0, arrived = 0, finished = 0, now = 0, pieces = 0;
    while (finished < n) {
        if (count == 0 && now < procs[arrived].arrival)
            now = procs[arrived].arrival; /* idle */
        for (; arrived < n && procs[arrived].arrival <= now; arrived++)
            queue[(head + count++) % n] = arrived;

        int p = queue[head];
        head = (head + 1) % n;
        count--;
        int run = quantum;
        now += run;
        left[p] -= run;
        pieces++;
        for (; arrived < n && procs[arrived].arrival <= now; arrived++)
            queue[(head + count++) % n] = arrived;
        if (left[p] > 0) {
            queue[(head + count++) % n] = p;
        } else {
            finish[p] = now;
            finished++;
        }
    }
    free(queue);
    free(left);
    return pieces;
}
