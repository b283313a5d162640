#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <string.h>

enum { MAX_PROCESSES = 16, TYPES = 3 };
struct state {
    int processes;
    int available[TYPES];
    int max[MAX_PROCESSES][TYPES];
    int allocation[MAX_PROCESSES][TYPES];
};
int is_safe(const struct state *s, int order[]);

static pid_t self;
static int failures;
static const char *current = "start";
static char mismatch[200];

static void late(int sig)
{
    (void)sig;
    if (getpid() != self)
        _exit(98);
    char line[300];
    int n = snprintf(line, sizeof line, "FAIL %s: expected an end within 5 s, it still waits\n", current);
    (void)!write(1, line, (size_t)n);
    _exit(failures + 1);
}

static void begin(const char *name) { current = name; mismatch[0] = 0; }

static void expect(const char *what, long wanted, long came)
{
    if (getpid() != self)
        _exit(99);  /* a child that should have ended came back into the tests */
    if (wanted != came && mismatch[0] == 0)
        snprintf(mismatch, sizeof mismatch, "%s: expected %ld, got %ld", what, wanted, came);
}

static void end(void)
{
    if (getpid() != self)
        _exit(99);
    if (mismatch[0]) {
        failures++;
        printf("FAIL %s: %s\n", current, mismatch);
    } else
        printf("ok %s\n", current);
}

static void start(void)
{
    self = getpid();
    setvbuf(stdout, NULL, _IONBF, 0);
    signal(SIGALRM, late);
    alarm(5);
}

/* 1 if all processes can finish in this order. */
static int is_safe_sequence(const struct state *s, const int order[])
{
    int work[TYPES], seen[MAX_PROCESSES] = {0};
    memcpy(work, s->available, sizeof work);
    for (int i = 0; i < s->processes; i++) {
        int p = order[i];
        if (p < 0 || p >= s->processes || seen[p]++)
            return 0;
        for (int t = 0; t < TYPES; t++) {
            if (s->max[p][t] - s->allocation[p][t] > work[t])
                return 0;
            work[t] += s->allocation[p][t];
        }
    }
    return 1;
}

static void safe(const char *name, const struct state *s, int wanted)
{
    int order[MAX_PROCESSES];
    struct state copy = *s;
    memset(order, -1, sizeof order);
    begin(name);
    int answer = is_safe(s, order);
    expect("return value", wanted, answer);
    if (wanted && answer)
        expect("order is a safe sequence", 1, is_safe_sequence(s, order));
    expect("state unchanged", 0, memcmp(&copy, s, sizeof copy));
    end();
}

int main(void)
{
    start();
    struct state book = {5, {3, 2, 1},
        {{4, 4, 5}, {5, 3, 6}, {5, 1, 2}, {3, 3, 3}, {1, 3, 5}},
        {{1, 0, 2}, {2, 3, 1}, {2, 0, 2}, {1, 3, 1}, {0, 0, 2}}};
    safe("example-of-the-book", &book, 1);

    struct state after = book;  /* P3 got (1, 0, 0) */
    after.available[0]--;
    after.allocation[3][0]++;
    safe("unsafe-after-a-request", &after, 0);

    struct state one = {3, {3, 0, 0}, {{12, 0, 0}, {5, 0, 0}, {10, 0, 0}}, {{6, 0, 0}, {3, 0, 0}, {3, 0, 0}}};
    safe("licences-safe", &one, 1);
    one.available[0] = 2;
    one.allocation[2][0] = 4;
    safe("licences-unsafe", &one, 0);

    struct state backwards = {4, {1, 0, 0},
        {{4, 0, 0}, {3, 0, 0}, {2, 0, 0}, {2, 0, 0}}, {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}}};
    safe("last-one-first", &backwards, 1);

    struct state every_type = {2, {5, 5, 0}, {{1, 1, 1}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 0}}};
    safe("one-type-is-missing", &every_type, 0);

    struct state full = {1, {0, 0, 0}, {{2, 2, 2}}, {{2, 2, 2}}};
    safe("all-that-it-needs", &full, 1);

    struct state nobody = {.processes = 0};
    safe("no-processes", &nobody, 1);

    return failures;
}
