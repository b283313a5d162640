#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <stdlib.h>

struct buffer {
    /* TODO: your fields here / 在这里填写成员 */
    int cells;
};

struct buffer *buffer_create(int cells)
{
    /* TODO: your code here / 在这里填写 */
    (void)cells;
    return NULL;
}

void buffer_put(struct buffer *b, int item)
{
    /* TODO: your code here / 在这里填写 */
    (void)b;
    (void)item;
}

int buffer_get(struct buffer *b)
{
    /* TODO: your code here / 在这里填写 */
    (void)b;
    return 0;
}

/* Nobody uses the buffer any more. */
void buffer_destroy(struct buffer *b)
{
    /* TODO: your code here / 在这里填写 */
    (void)b;
}
