#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

struct account {
    int id;                /* different for every account */
    long balance;
    pthread_mutex_t lock;  /* protects balance; initialised by the caller */
};

/* 0; or -1, with nothing changed, if amount <= 0 or from has too little. */
int transfer(struct account *from, struct account *to, long amount)
{
    /* TODO: your code here / 在这里填写 */
    (void)from;
    (void)to;
    (void)amount;
    return -1;
}
