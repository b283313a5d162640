#define MAX_FRAMES 16

enum { HIT = -2, LOADED = -1 };

struct ring {
    int size, hand;
    int page[MAX_FRAMES];               /* -1: empty */
    unsigned char accessed[MAX_FRAMES]; /* 0 or 1 */
};

void ring_init(struct ring *r, int size);
int ring_access(struct ring *r, int page);

void ring_init(struct ring *r, int size)
{
    r->size = size;
    r->hand = 0;
    for (int i = 0; i < MAX_FRAMES; i++) {
        r->page[i] = -1;
        r->accessed[i] = 0;
    }
}

int ring_access(struct ring *r, int page)
{
    for (int i = 0; i < r->size; i++) {
        if (r->page[i] == page) {
            r->accessed[i] = 1;
            return HIT;
        }
    }
    while (r->page[r->hand] != -1 && r->accessed[r->hand]) {
        r->accessed[r->hand] = 0; /* second chance */
        r->hand = (r->hand + 1) % r->size;
    }
    int victim = r->page[r->hand]; /* -1, which is LOADED, if empty */
    r->page[r->hand] = page;
    r->accessed[r->hand] = 1;
    return victim;
}
