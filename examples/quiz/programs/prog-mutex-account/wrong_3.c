#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

void account_open(struct account *a, long balance)
{
    pthread_mutex_init(&a->lock, NULL);
    a->balance = balance;
}

int account_deposit(struct account *a, long amount)
{
    if (amount <= 0)
        return -1;
    a->balance += amount;  /* one line */
    return 0;
}

int account_withdraw(struct account *a, long amount)
{
    if (amount <= 0)
        return -1;
    pthread_mutex_lock(&a->lock);
    if (a->balance < amount) {
        pthread_mutex_unlock(&a->lock);
        return -1;
    }
    a->balance -= amount;
    pthread_mutex_unlock(&a->lock);
    return 0;
}

long account_balance(struct account *a)
{
    pthread_mutex_lock(&a->lock);
    long balance = a->balance;
    pthread_mutex_unlock(&a->lock);
    return balance;
}

void account_close(struct account *a)
{
    pthread_mutex_destroy(&a->lock);
}
