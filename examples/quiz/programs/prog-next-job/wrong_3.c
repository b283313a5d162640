struct job {
    int arrival; /* time at which the job becomes ready */
    int burst;   /* how long it runs, at least 1 */
    int done;    /* 1 once it has run */
};

int next_job(const struct job jobs[], int n, int now);
long run_sjf(struct job jobs[], int n, long waiting[]);

/* Does job a go before job b? */
static int goes_before(const struct job *a, const struct job *b)
{
    if (a->burst != b->burst)
        return a->burst < b->burst;
    return a->arrival < b->arrival;
}

int next_job(const struct job jobs[], int n, int now)
{
    const struct job *chosen = 0;
    for (const struct job *j = jobs; j < jobs + n; j++) {
        int ready = j->arrival <= now && j->done == 0;
        if (ready && (!chosen || goes_before(j, chosen)))
            chosen = j;
    }
    return chosen ? (int)(chosen - jobs) : -1;
}

long run_sjf(struct job jobs[], int n, long waiting[])
{
    long sum = 0;
    int clock = 0;
    for (;;) {
        int pick = next_job(jobs, n, clock);
        if (pick == -1) {
            /* Jump to the earliest arrival that is still to come. */
            int next = -1;
            for (int k = 0; k < n; k++)
                if (!jobs[k].done && (next == -1 || jobs[k].arrival < next))
                    next = jobs[k].arrival;
            if (next == -1)
                return sum; /* all have run */
            clock = next;
        } else {
            struct job *j = &jobs[pick];
            j->done = 1;
            waiting[pick] = clock;
            sum += waiting[pick];
            clock += j->burst;
        }
    }
}
