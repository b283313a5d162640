#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

/* Runners in a ring; each knows whom to hand the baton to. */
struct runner {
    sem_t baton;
    struct runner *next;
};

struct relay {
    int size;
    struct runner runners[];
};

static void P(sem_t *s)
{
    while (sem_wait(s) == -1 && errno == EINTR)
        continue;
}

static void V(sem_t *s)
{
    sem_post(s);
}

struct relay *relay_create(int threads)
{
    struct relay *team = malloc(sizeof *team + sizeof(struct runner) * (size_t)threads);

    if (!team)
        return NULL;
    team->size = threads;
    struct runner *successor = &team->runners[0];
    for (int k = threads; k-- > 0; ) {
        team->runners[k].next = successor;
        sem_init(&team->runners[k].baton, 0, 0);
        successor = &team->runners[k];
    }
    V(&team->runners[0].baton);  /* thread 0 starts */
    return team;
}

void relay_run(struct relay *team, int who, int rounds, void (*step)(int who))
{
    struct runner *me = team->runners + who;

    while (rounds-- > 0) {
        P(&me->baton);
        step(who);
        V(&me->next->baton);
    }
}

void relay_destroy(struct relay *team)
{
    for (struct runner *p = team->runners; p < team->runners + team->size; p++)
        sem_destroy(&p->baton);
    free(team);
}
