#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

struct account {
    int id;                /* different for every account */
    long balance;
    pthread_mutex_t lock;  /* protects balance; initialised by the caller */
};

int transfer(struct account *from, struct account *to, long amount)
{
    int result = -1;

    if (amount <= 0)
        return -1;
    struct account *first = from;
    struct account *second = to;

    pthread_mutex_lock(&first->lock);
    if (second != first)
        pthread_mutex_lock(&second->lock);
    if (from->balance >= amount) {
        from->balance -= amount;
        to->balance += amount;
        result = 0;
    }
    if (second != first)
        pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
    return result;
}
