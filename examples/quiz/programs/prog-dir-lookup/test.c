#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_LEN 14
#define ROOT 1

struct entry {
    unsigned short ino;      /* 0: deleted */
    char name[NAME_MAX_LEN]; /* filled up with '\0' */
};

/* Provided: the entries of a directory, or NULL. */
const struct entry *dir_open(int ino, int *n);

int dir_lookup(const struct entry dir[], int n, const char *name, size_t len);
int resolve(const char *path, int cwd);

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

/*  /            inode 1: bin (2), home (3), notes (deleted), notes (9)
    /bin         inode 2: binary (10), exactly14chars (11)
    /home        inode 3: amy (4), no (deleted), no (deleted)
    /home/amy    inode 4: notes.txt (12)  */
static const struct entry root[] = {
    {1, "."}, {1, ".."}, {2, "bin"}, {0, "notes"}, {3, "home"}, {9, "notes"},
};
static const struct entry bin[] = {
    {2, "."}, {1, ".."}, {10, "binary"},
    {11, {'e', 'x', 'a', 'c', 't', 'l', 'y', '1', '4', 'c', 'h', 'a', 'r', 's'}},
};
static const struct entry home[] = {{3, "."}, {1, ".."}, {0, "no"}, {4, "amy"}};
static const struct entry amy[] = {{4, "."}, {3, ".."}, {12, "notes.txt"}};

const struct entry *dir_open(int ino, int *n)
{
    switch (ino) {
    case 1:
        *n = 6;
        return root;
    case 2:
        *n = 4;
        return bin;
    case 3:
        *n = 4;
        return home;
    case 4:
        *n = 3;
        return amy;
    default:
        return NULL;
    }
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(5);
    check("a name", 2, dir_lookup(root, 6, "bin", 3));
    check("only len characters count", 2, dir_lookup(root, 6, "bin/ls", 3));
    check("a prefix of a name", 0, dir_lookup(root, 6, "ho", 2));
    check("longer than a name", 0, dir_lookup(root, 6, "homes", 5));
    check("behind a deleted slot of the same name", 9, dir_lookup(root, 6, "notes", 5));
    check("only a deleted slot", 0, dir_lookup(home, 4, "no", 2));
    check("14 characters", 11, dir_lookup(bin, 4, "exactly14chars", 14));
    check("15 characters", 0, dir_lookup(bin, 4, "exactly14charsX", 15));
    check("13 of the 14", 0, dir_lookup(bin, 4, "exactly14char", 13));
    check("empty name", 0, dir_lookup(root, 6, "", 0));
    check("no entries", 0, dir_lookup(root, 0, "bin", 3));

    check("/", 1, resolve("/", 4));
    check("/home", 3, resolve("/home", 4));
    check("/home/amy/notes.txt", 12, resolve("/home/amy/notes.txt", 2));
    check("relative", 12, resolve("amy/notes.txt", 3));
    check("cwd itself", 4, resolve(".", 4));
    check("up and down", 10, resolve("../../bin/binary", 4));
    check("several slashes", 12, resolve("//home///amy/notes.txt", 1));
    check("slash at the end", 3, resolve("/home/", 4));
    check("14 characters in a path", 11, resolve("/bin/exactly14chars", 4));
    check(".. of the root", 1, resolve("/../..", 4));
    check("missing last part", 0, resolve("/home/bob", 4));
    check("missing part in the middle", 0, resolve("/house/amy", 4));
    check("a file in the middle", 0, resolve("/notes/x", 4));
    check("a prefix in the middle", 0, resolve("/hom/amy", 4));
    check("empty path", 0, resolve("", 4));
    return failures;
}
