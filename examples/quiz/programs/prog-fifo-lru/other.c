#include <stdlib.h>

int fifo_faults(const int refs[], int n, int frames);
int lru_faults(const int refs[], int n, int frames);

/* Both algorithms keep the pages in a row, the next victim in front. They differ
   only in whether a hit moves the page to the back. */
static int simulate(const int refs[], int n, int frames, int move_on_hit)
{
    int *row, count = 0, faults = 0;
    if (frames < 1 || !(row = malloc(sizeof(int) * (size_t)frames)))
        return -1;
    for (const int *ref = refs; ref < refs + n; ref++) {
        int at = 0;
        while (at < count && row[at] != *ref)
            at++;
        if (at < count) { /* hit */
            if (!move_on_hit)
                continue;
        } else {
            faults++;
            if (count < frames) {
                row[count++] = *ref;
                continue;
            }
            at = 0; /* evict the front */
        }
        for (; at + 1 < count; at++)
            row[at] = row[at + 1];
        row[count - 1] = *ref;
    }
    free(row);
    return faults;
}

int fifo_faults(const int refs[], int n, int frames)
{
    return simulate(refs, n, frames, 0);
}

int lru_faults(const int refs[], int n, int frames)
{
    return simulate(refs, n, frames, 1);
}
