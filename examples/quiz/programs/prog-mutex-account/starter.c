#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

/* Initialises the account. */
void account_open(struct account *a, long balance)
{
    /* TODO: your code here / 在这里填写 */
    a->balance = balance;
}

/* 0 on success; -1 if amount <= 0. */
int account_deposit(struct account *a, long amount)
{
    /* TODO: your code here / 在这里填写 */
    (void)a;
    (void)amount;
    return -1;
}

/* 0 on success; -1 if amount <= 0 or the balance is too small. */
int account_withdraw(struct account *a, long amount)
{
    /* TODO: your code here / 在这里填写 */
    (void)a;
    (void)amount;
    return -1;
}

long account_balance(struct account *a)
{
    /* TODO: your code here / 在这里填写 */
    (void)a;
    return 0;
}

void account_close(struct account *a)
{
    /* TODO: your code here / 在这里填写 */
    (void)a;
}
