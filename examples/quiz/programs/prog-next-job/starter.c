struct job {
    int arrival; /* time at which the job becomes ready */
    int burst;   /* how long it runs, at least 1 */
    int done;    /* 1 once it has run */
};

int next_job(const struct job jobs[], int n, int now);
long run_sjf(struct job jobs[], int n, long waiting[]);

/* Index of the shortest job that has arrived by `now` and is not done, or -1. */
int next_job(const struct job jobs[], int n, int now)
{
    /* 在此填写 / your code here */
    (void)jobs, (void)n, (void)now;
    return -1;
}

/* Run all jobs without preemption; return the sum of their waiting times. */
long run_sjf(struct job jobs[], int n, long waiting[])
{
    /* 在此填写 / your code here */
    (void)jobs, (void)n, (void)waiting;
    return 0;
}
