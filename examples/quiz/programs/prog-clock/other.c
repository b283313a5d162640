#define MAX_FRAMES 16

enum { HIT = -2, LOADED = -1 };

struct ring {
    int size, hand;
    int page[MAX_FRAMES];               /* -1: empty */
    unsigned char accessed[MAX_FRAMES]; /* 0 or 1 */
};

void ring_init(struct ring *r, int size);
int ring_access(struct ring *r, int page);

#include <string.h>

void ring_init(struct ring *r, int size)
{
    memset(r, 0, sizeof *r);
    r->size = size;
    while (size-- > 0)
        r->page[size] = -1;
}

/* Index of a page, or -1. */
static int where(const struct ring *r, int page)
{
    int i = r->size;
    while (--i >= 0 && r->page[i] != page)
        ;
    return i;
}

/* Return the frame under the hand and move the hand on. */
static int step(struct ring *r)
{
    int frame = r->hand++;
    if (r->hand == r->size)
        r->hand = 0;
    return frame;
}

int ring_access(struct ring *r, int page)
{
    int frame = where(r, page);
    int result = HIT;
    if (frame < 0) {
        for (;;) {
            frame = step(r);
            if (r->page[frame] < 0 || !r->accessed[frame])
                break;
            r->accessed[frame] = 0;
        }
        result = r->page[frame] < 0 ? LOADED : r->page[frame];
        r->page[frame] = page;
    }
    r->accessed[frame] = 1;
    return result;
}
