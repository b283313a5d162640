#include <stdlib.h>

long scan(const int req[], int n, int head, int last, int up, int order[]);
long c_look(const int req[], int n, int head, int order[]);

static int by_cylinder(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* A sorted copy of the requests, which the caller frees; NULL if memory is short. */
static int *sorted(const int req[], int n)
{
    int *copy = malloc(n * sizeof *copy);
    if (copy == NULL)
        return NULL;
    for (int i = 0; i < n; i++)
        copy[i] = req[i];
    qsort(copy, n, sizeof *copy, by_cylinder);
    return copy;
}

long scan(const int req[], int n, int head, int last, int up, int order[])
{
    if (n == 0)
        return 0;
    int *r = sorted(req, n);
    if (r == NULL)
        return -1;
    int split = 0; /* r[split] is the first request of the upper side */
    while (split < n && (up ? r[split] < head : r[split] <= head))
        split++;

    int k = 0;
    long distance;
    if (up) {
        for (int i = split; i < n; i++)
            order[k++] = r[i];
        for (int i = split - 1; i >= 0; i--)
            order[k++] = r[i];
        distance = split > 0 ? (last - head) + (last - r[0]) : r[n - 1] - head;
    } else {
        for (int i = split - 1; i >= 0; i--)
            order[k++] = r[i];
        for (int i = split; i < n; i++)
            order[k++] = r[i];
        distance = split < n ? head + r[n - 1] : head - r[0];
    }
    free(r);
    return distance;
}

long c_look(const int req[], int n, int head, int order[])
{
    if (n == 0)
        return 0;
    int *r = sorted(req, n);
    if (r == NULL)
        return -1;
    int split = 0;
    while (split < n && r[split] < head)
        split++;

    int k = 0, at = head;
    long distance = 0;
    for (int i = split; i < n; i++)
        order[k++] = r[i];
    for (int i = 0; i < split; i++)
        order[k++] = r[i];
    for (int i = 0; i < n; i++) {
        distance += abs(order[i] - at);
        at = order[i];
    }
    free(r);
    return distance;
}
