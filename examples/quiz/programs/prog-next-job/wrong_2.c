struct job {
    int arrival; /* time at which the job becomes ready */
    int burst;   /* how long it runs, at least 1 */
    int done;    /* 1 once it has run */
};

int next_job(const struct job jobs[], int n, int now);
long run_sjf(struct job jobs[], int n, long waiting[]);

int next_job(const struct job jobs[], int n, int now)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (jobs[i].done || jobs[i].arrival > now)
            continue;
        if (best < 0 || jobs[i].burst < jobs[best].burst ||
            (jobs[i].burst == jobs[best].burst && jobs[i].arrival < jobs[best].arrival))
            best = i;
    }
    return best;
}

long run_sjf(struct job jobs[], int n, long waiting[])
{
    int now = 0, left = 0;
    long total = 0;
    for (int i = 0; i < n; i++)
        left += !jobs[i].done;
    while (left > 0) {
        int i = next_job(jobs, n, now);
        if (i < 0)
            break;
        waiting[i] = now - jobs[i].arrival;
        total += waiting[i];
        now += jobs[i].burst;
        jobs[i].done = 1;
        left--;
    }
    return total;
}
