#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

struct account {
    int id;                /* different for every account */
    long balance;
    pthread_mutex_t lock;  /* protects balance; initialised by the caller */
};

/* Try the second lock and retreat; no order is needed. */
static void lock_both(struct account *one, struct account *two)
{
    struct timespec pause = {0, 1000 * (1 + one->id % 7)};

    for (;;) {
        pthread_mutex_lock(&one->lock);
        if (pthread_mutex_trylock(&two->lock) == 0)
            return;
        pthread_mutex_unlock(&one->lock);
        nanosleep(&pause, NULL);
        struct account *swap = one;
        one = two;
        two = swap;
    }
}

int transfer(struct account *from, struct account *to, long amount)
{
    if (amount <= 0)
        return -1;
    if (from == to) {
        pthread_mutex_lock(&from->lock);
        bool rich = from->balance >= amount;
        pthread_mutex_unlock(&from->lock);
        return rich ? 0 : -1;
    }
    lock_both(from, to);
    bool enough = from->balance >= amount;
    if (enough) {
        from->balance -= amount;
        to->balance += amount;
    }
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_unlock(&to->lock);
    return enough ? 0 : -1;
}
