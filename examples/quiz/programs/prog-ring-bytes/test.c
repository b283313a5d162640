#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <stddef.h>
#include <string.h>

struct ring;
struct ring *ring_create(size_t capacity);
size_t ring_write(struct ring *r, const void *data, size_t n);
size_t ring_read(struct ring *r, void *data, size_t n);
size_t ring_used(const struct ring *r);
void ring_destroy(struct ring *r);

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

int main(void)
{
    char out[64];
    start();
    struct ring *r = ring_create(8);

    begin("create");
    expect("ring_create(8) gave a buffer", 1, r != NULL);
    end();
    if (r == NULL)
        return failures;

    begin("first-in-first-out");
    expect("bytes written", 5, (long)ring_write(r, "abcde", 5));
    expect("bytes used", 5, (long)ring_used(r));
    memset(out, 0, sizeof out);
    expect("bytes read", 3, (long)ring_read(r, out, 3));
    expect("read \"abc\"", 0, memcmp(out, "abc", 4));
    expect("bytes read when 10 are asked for", 2, (long)ring_read(r, out, 10));
    expect("read \"de\"", 0, memcmp(out, "de", 2));
    end();

    begin("empty");
    expect("bytes read", 0, (long)ring_read(r, out, 5));
    expect("bytes used", 0, (long)ring_used(r));
    expect("bytes written when n is 0", 0, (long)ring_write(r, "x", 0));
    end();

    begin("all-bytes-usable");
    expect("bytes written into an empty buffer of 8", 8, (long)ring_write(r, "01234567", 8));
    expect("bytes used", 8, (long)ring_used(r));
    expect("bytes written into a full buffer", 0, (long)ring_write(r, "X", 1));
    expect("bytes read", 8, (long)ring_read(r, out, sizeof out));
    expect("read \"01234567\"", 0, memcmp(out, "01234567", 8));
    end();

    begin("nothing-overwritten");
    ring_write(r, "ABCDEF", 6);
    expect("bytes written when 2 fit", 2, (long)ring_write(r, "GHIJ", 4));
    expect("bytes read", 8, (long)ring_read(r, out, 8));
    expect("read \"ABCDEFGH\"", 0, memcmp(out, "ABCDEFGH", 8));
    end();
    ring_destroy(r);

    begin("wraps-around");
    for (size_t capacity = 1; capacity <= 7; capacity++) {
        unsigned char next_in = 0, next_out = 0;
        r = ring_create(capacity);
        for (int i = 0; i < 200; i++) {
            unsigned char piece[5];
            size_t n = (size_t)(i % 5) + 1, room = capacity - ring_used(r);
            for (size_t k = 0; k < n; k++)
                piece[k] = (unsigned char)(next_in + k);
            size_t put = ring_write(r, piece, n);
            expect("bytes written", (long)(n < room ? n : room), (long)put);
            next_in = (unsigned char)(next_in + put);
            size_t got = ring_read(r, piece, (size_t)(i % 3) + 1);
            for (size_t k = 0; k < got && k < 5; k++)
                expect("a byte read", next_out++, piece[k]);
        }
        ring_destroy(r);
    }
    end();

    return failures;
}
