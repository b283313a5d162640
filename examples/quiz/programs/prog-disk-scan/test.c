#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

long scan(const int req[], int n, int head, int last, int up, int order[]);
long c_look(const int req[], int n, int head, int order[]);

static int failures;

/* One line for each case: `ok NAME` or `FAIL NAME: what was expected, what came`. */
static void check(const char *name, long long want, long long got)
{
    if (want == got) {
        printf("ok %s\n", name);
    } else {
        printf("FAIL %s: expected %lld, got %lld\n", name, want, got);
        failures++;
    }
}

static void check_all(const char *name, const int want[], const int got[], int n)
{
    for (int i = 0; i < n; i++)
        if (want[i] != got[i]) {
            printf("FAIL %s: expected %d at index %d, got %d\n", name, want[i], i, got[i]);
            failures++;
            return;
        }
    printf("ok %s\n", name);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    const int book[8] = {35, 120, 64, 180, 82, 10, 150, 74};
    const int untouched[8] = {35, 120, 64, 180, 82, 10, 150, 74};
    int order[8] = {0};

    check("SCAN up, distance", 318, scan(book, 8, 70, 199, 1, order));
    check_all("SCAN up, order", (const int[]){74, 82, 120, 150, 180, 64, 35, 10}, order, 8);
    check("SCAN down, distance", 70 + 180, scan(book, 8, 70, 199, 0, order));
    check_all("SCAN down, order", (const int[]){64, 35, 10, 74, 82, 120, 150, 180}, order, 8);
    check("C-LOOK, distance", 334, c_look(book, 8, 70, order));
    check_all("C-LOOK, order", (const int[]){74, 82, 120, 150, 180, 10, 35, 64}, order, 8);
    check_all("the requests are left alone", untouched, book, 8);

    check("SCAN up, nothing below, stops at 180", 175, scan(book, 8, 5, 199, 1, order));
    check_all("SCAN up, nothing below, order", (const int[]){10, 35, 64, 74, 82, 120, 150, 180}, order, 8);
    check("SCAN down, nothing above, stops at 10", 180, scan(book, 8, 190, 199, 0, order));
    check("SCAN up, nothing above, to the end first", 9 + 189, scan(book, 8, 190, 199, 1, order));
    check_all("SCAN up, nothing above, order", (const int[]){180, 150, 120, 82, 74, 64, 35, 10}, order, 8);
    check("SCAN down, nothing below", 5 + 180, scan(book, 8, 5, 199, 0, order));
    check("C-LOOK, nothing above, straight to 10", 180 + 170, c_look(book, 8, 190, order));
    check_all("C-LOOK, nothing above, order", (const int[]){10, 35, 64, 74, 82, 120, 150, 180}, order, 8);
    check("C-LOOK, nothing below", 175, c_look(book, 8, 5, order));

    const int equal[5] = {50, 30, 50, 60, 30};
    for (int i = 0; i < 8; i++)
        order[i] = -7;
    check("SCAN up, request at the head", 49 + 69, scan(equal, 5, 50, 99, 1, order));
    check_all("SCAN up, equal requests", (const int[]){50, 50, 60, 30, 30, -7}, order, 6);
    for (int i = 0; i < 8; i++)
        order[i] = -7;
    check("SCAN down, request at the head", 50 + 60, scan(equal, 5, 50, 99, 0, order));
    check_all("SCAN down, equal requests", (const int[]){50, 50, 30, 30, 60, -7}, order, 6);
    check("C-LOOK, request at the head", 10 + 30, c_look(equal, 5, 50, order));
    check_all("C-LOOK, equal requests", (const int[]){50, 50, 60, 30, 30, -7}, order, 6);

    check("SCAN, no requests", 0, scan(book, 0, 70, 199, 1, order));
    check("C-LOOK, no requests", 0, c_look(book, 0, 70, order));
    return failures;
}
