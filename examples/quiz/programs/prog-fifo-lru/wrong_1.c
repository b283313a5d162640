#include <stdlib.h>

int fifo_faults(const int refs[], int n, int frames);
int lru_faults(const int refs[], int n, int frames);

static int find(const int pages[], int used, int page)
{
    for (int i = 0; i < used; i++)
        if (pages[i] == page)
            return i;
    return -1;
}

int fifo_faults(const int refs[], int n, int frames)
{
    if (frames <= 0)
        return -1;
    int *pages = malloc(frames * sizeof *pages);
    if (pages == NULL)
        return -1;
    int used = 0, oldest = 0, faults = 0;
    for (int t = 0; t < n; t++) {
        if (find(pages, used, refs[t]) >= 0)
            continue;
        faults++;
        if (used < frames) {
            pages[used++] = refs[t];
        } else {
            pages[oldest] = refs[t];
            oldest = (oldest + 1) % frames;
        }
    }
    free(pages);
    return faults;
}

int lru_faults(const int refs[], int n, int frames)
{
    if (frames <= 0)
        return -1;
    int *pages = malloc(frames * sizeof *pages);
    int *last_use = malloc(frames * sizeof *last_use);
    if (pages == NULL || last_use == NULL) {
        free(pages);
        free(last_use);
        return -1;
    }
    int used = 0, faults = 0;
    for (int t = 0; t < n; t++) {
        int i = find(pages, used, refs[t]);
        if (i < 0) {
            faults++;
            if (used < frames) {
                i = used++;
            } else {
                i = 0;
                for (int k = 1; k < frames; k++)
                    if (last_use[k] < last_use[i])
                        i = k;
            }
            pages[i] = refs[t];
            last_use[i] = t;
        }
    }
    free(last_use);
    free(pages);
    return faults;
}
