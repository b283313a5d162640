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
    /* 在此填写 / your code here */
    (void)r, (void)size;
}

/* HIT, LOADED, or the page that was evicted. */
int ring_access(struct ring *r, int page)
{
    /* 在此填写 / your code here */
    (void)r, (void)page;
    return HIT;
}
