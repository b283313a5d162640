#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct buffer;
struct buffer *buffer_create(int cells);
void buffer_put(struct buffer *b, int item);
int buffer_get(struct buffer *b);
void buffer_destroy(struct buffer *b);

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

static void nap_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static struct buffer *b;
static atomic_int put, taken[400];

static void *put_five(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        buffer_put(b, i);
        put++;
    }
    return NULL;
}

static void *get_one(void *arg)
{
    *(int *)arg = buffer_get(b);
    return NULL;
}

static void *produce(void *arg)
{
    int first = *(int *)arg;
    for (int i = first; i < first + 200; i++)
        buffer_put(b, i);
    return NULL;
}

static void *consume(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++) {
        int item = buffer_get(b);
        if (item >= 0 && item < 400)
            taken[item]++;
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[4];
    int item = -1, firsts[2] = {0, 200};
    start();

    begin("first-in-first-out");
    b = buffer_create(3);
    if (b == NULL) {
        expect("buffer_create(3) gave a buffer", 1, 0);
        end();
        return failures;
    }
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 3; k++)
            buffer_put(b, 10 * i + k);
        for (int k = 0; k < 3; k++)
            expect("item", 10 * i + k, buffer_get(b));
    }
    buffer_destroy(b);
    end();

    begin("get-waits-while-empty");
    b = buffer_create(2);
    pthread_create(&thread[0], NULL, get_one, &item);
    nap_ms(50);
    buffer_put(b, 42);
    pthread_join(thread[0], NULL);
    expect("item", 42, item);
    buffer_destroy(b);
    end();

    begin("put-waits-while-full");
    b = buffer_create(2);
    pthread_create(&thread[0], NULL, put_five, NULL);
    for (int i = 0; i < 500 && put < 2; i++)
        nap_ms(1);
    nap_ms(100);
    expect("items put into a buffer of 2", 2, put);
    for (int i = 0; i < 5; i++)
        expect("item", i, buffer_get(b));
    pthread_join(thread[0], NULL);
    buffer_destroy(b);
    end();

    begin("every-item-once");
    b = buffer_create(4);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread[i], NULL, produce, &firsts[i]);
        pthread_create(&thread[2 + i], NULL, consume, NULL);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 400; i++)
        expect("how often an item was taken", 1, taken[i]);
    buffer_destroy(b);
    end();

    return failures;
}
