#include <stdlib.h>

long scan(const int req[], int n, int head, int last, int up, int order[]);
long c_look(const int req[], int n, int head, int order[]);

/* Append the requests in [low, high] to `order` by insertion, ascending if `up`
   and descending otherwise; return how many there were. */
static int collect(const int req[], int n, int low, int high, int up, int order[])
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (req[i] < low || req[i] > high)
            continue;
        int at = count++;
        while (at > 0 && (up ? order[at - 1] > req[i] : order[at - 1] < req[i])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = req[i];
    }
    return count;
}

static long way(int from, int to)
{
    return from < to ? to - from : from - to;
}

long scan(const int req[], int n, int head, int last, int up, int order[])
{
    int ahead = up ? collect(req, n, head, last, 1, order) : collect(req, n, 0, head, 0, order);
    if (ahead < n) { /* somebody is behind the head: to the end, then back */
        int end = up ? last : 0;
        if (up)
            collect(req, n, 0, head - 1, 0, order + ahead);
        else
            collect(req, n, head + 1, last, 1, order + ahead);
        return way(head, end) + way(end, order[n - 1]);
    }
    return n > 0 ? way(head, order[n - 1]) : 0;
}

long c_look(const int req[], int n, int head, int order[])
{
    const int far = 0x7FFFFFFF;
    int first_part = collect(req, n, head, far, 1, order);
    long distance = first_part > 0 ? way(head, order[first_part - 1]) : 0;
    if (first_part < n) {
        int highest = first_part > 0 ? order[first_part - 1] : head;
        collect(req, n, 0, head - 1, 1, order + first_part);
        distance += way(highest, order[first_part]) + way(order[first_part], order[n - 1]);
    }
    return distance;
}
