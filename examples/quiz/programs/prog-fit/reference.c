struct hole {
    long start, size;
};

enum fit { FIRST_FIT, BEST_FIT };

long place(struct hole holes[], int *n, long size, enum fit how);

long place(struct hole holes[], int *n, long size, enum fit how)
{
    int chosen = -1;
    if (size <= 0)
        return -1;
    for (int i = 0; i < *n; i++) {
        if (holes[i].size < size)
            continue;
        if (chosen < 0 || holes[i].size < holes[chosen].size)
            chosen = i;
        if (how == FIRST_FIT)
            break;
    }
    if (chosen < 0)
        return -1;

    long start = holes[chosen].start;
    holes[chosen].start += size;
    holes[chosen].size -= size;
    if (holes[chosen].size == 0) {
        for (int i = chosen; i + 1 < *n; i++)
            holes[i] = holes[i + 1];
        (*n)--;
    }
    return start;
}
