#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

struct rw {
    /* TODO: your fields here / 在这里填写成员 */
    int readers;
};

struct rw *rw_create(void)
{
    /* TODO: your code here / 在这里填写 */
    return NULL;
}

void rw_read_lock(struct rw *l)
{
    /* TODO: your code here / 在这里填写 */
    (void)l;
}

void rw_read_unlock(struct rw *l)
{
    /* TODO: your code here / 在这里填写 */
    (void)l;
}

void rw_write_lock(struct rw *l)
{
    /* TODO: your code here / 在这里填写 */
    (void)l;
}

void rw_write_unlock(struct rw *l)
{
    /* TODO: your code here / 在这里填写 */
    (void)l;
}

void rw_destroy(struct rw *l)
{
    /* TODO: your code here / 在这里填写 */
    (void)l;
}
