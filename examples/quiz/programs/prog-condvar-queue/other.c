#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

/* A linked list, and one condition variable for every kind of change. */
struct node {
    int value;
    struct node *next;
};

struct queue {
    pthread_mutex_t guard;
    pthread_cond_t changed;
    struct node *oldest, **tail;
    int room;
    int shut;
};

struct queue *queue_create(int capacity)
{
    struct queue *line = malloc(sizeof(struct queue));

    if (!line)
        return NULL;
    pthread_mutex_init(&line->guard, NULL);
    pthread_cond_init(&line->changed, NULL);
    line->oldest = NULL;
    line->tail = &line->oldest;
    line->room = capacity;
    line->shut = 0;
    return line;
}

int queue_put(struct queue *line, int value)
{
    int result = -1;
    struct node *fresh = malloc(sizeof *fresh);

    if (fresh == NULL)
        return -1;
    pthread_mutex_lock(&line->guard);
    for (;;) {
        if (line->shut || line->room > 0)
            break;
        pthread_cond_wait(&line->changed, &line->guard);
    }
    if (!line->shut) {
        fresh->value = value;
        fresh->next = NULL;
        *line->tail = fresh;
        line->tail = &fresh->next;
        line->room--;
        fresh = NULL;
        result = 0;
        pthread_cond_broadcast(&line->changed);
    }
    pthread_mutex_unlock(&line->guard);
    free(fresh);
    return result;
}

int queue_get(struct queue *line, int *value)
{
    pthread_mutex_lock(&line->guard);
    while (line->oldest == NULL && !line->shut)
        pthread_cond_wait(&line->changed, &line->guard);
    struct node *first = line->oldest;
    if (first != NULL) {
        line->oldest = first->next;
        if (line->oldest == NULL)
            line->tail = &line->oldest;
        line->room++;
        pthread_cond_broadcast(&line->changed);
    }
    pthread_mutex_unlock(&line->guard);
    if (first == NULL)
        return -1;
    *value = first->value;
    free(first);
    return 0;
}

void queue_close(struct queue *line)
{
    pthread_mutex_lock(&line->guard);
    line->shut = 1;
    pthread_mutex_unlock(&line->guard);
    pthread_cond_broadcast(&line->changed);
}

void queue_destroy(struct queue *line)
{
    while (line->oldest != NULL) {
        struct node *gone = line->oldest;
        line->oldest = gone->next;
        free(gone);
    }
    pthread_cond_destroy(&line->changed);
    pthread_mutex_destroy(&line->guard);
    free(line);
}
