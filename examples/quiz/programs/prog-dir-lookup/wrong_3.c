#include <stddef.h>
#include <string.h>

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

int dir_lookup(const struct entry dir[], int n, const char *name, size_t len)
{
    char wanted[NAME_MAX_LEN] = {0}; /* filled up as in the directory */
    if (len < 1 || len > sizeof wanted)
        return 0;
    memcpy(wanted, name, len);
    while (n-- > 0) {
        if (!strncmp(dir->name, wanted, sizeof wanted))
            return dir->ino;
        dir++;
    }
    return 0;
}

int resolve(const char *path, int cwd)
{
    int at = path[0] == '/' ? ROOT : path[0] ? cwd : 0;
    path += strspn(path, "/");
    while (at && *path) {
        size_t length = strcspn(path, "/");
        int count = 0;
        const struct entry *entries = dir_open(at, &count);
        at = entries ? dir_lookup(entries, count, path, length) : 0;
        path += length;
        path += strspn(path, "/");
    }
    return at;
}
