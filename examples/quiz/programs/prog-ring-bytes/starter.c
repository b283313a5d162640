#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

struct ring {
    /* TODO: your fields here / 在这里填写成员 */
    size_t capacity;
};

struct ring *ring_create(size_t capacity)
{
    /* TODO: your code here / 在这里填写 */
    (void)capacity;
    return NULL;
}

/* Number of bytes put in: at most n, and no more than fit. */
size_t ring_write(struct ring *r, const void *data, size_t n)
{
    /* TODO: your code here / 在这里填写 */
    (void)r;
    (void)data;
    (void)n;
    return 0;
}

/* Number of bytes taken out: at most n. */
size_t ring_read(struct ring *r, void *data, size_t n)
{
    /* TODO: your code here / 在这里填写 */
    (void)r;
    (void)data;
    (void)n;
    return 0;
}

size_t ring_used(const struct ring *r)
{
    /* TODO: your code here / 在这里填写 */
    (void)r;
    return 0;
}

void ring_destroy(struct ring *r)
{
    /* TODO: your code here / 在这里填写 */
    (void)r;
}
