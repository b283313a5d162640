#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

/* Adds `change` unless the balance would fall below 0; all changes go
   through here. *now is the balance afterwards. */
static int change_by(struct account *acc, long change, long *now)
{
    int done = 0;

    pthread_mutex_lock(&acc->lock);
    long next = acc->balance + change;
    if (next >= 0) {
        acc->balance = next;
        done = 1;
    }
    *now = acc->balance;
    pthread_mutex_unlock(&acc->lock);
    return done;
}

void account_open(struct account *acc, long initial)
{
    acc->balance = initial;
    pthread_mutex_init(&acc->lock, NULL);
}

int account_deposit(struct account *acc, long sum)
{
    long now;
    return sum > 0 && change_by(acc, sum, &now) ? 0 : -1;
}

int account_withdraw(struct account *acc, long sum)
{
    long now;
    return sum > 0 && change_by(acc, -sum, &now) ? 0 : -1;
}

long account_balance(struct account *acc)
{
    long now;
    change_by(acc, 0, &now);
    return now;
}

void account_close(struct account *acc)
{
    pthread_mutex_destroy(&acc->lock);
}
