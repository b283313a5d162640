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
    if (len == 0 || len > NAME_MAX_LEN)
        return 0;
    for (int i = 0; i < n; i++) {
        if (dir[i].ino == 0)
            continue;
        if (memcmp(dir[i].name, name, len) != 0)
            continue;
        if (len == NAME_MAX_LEN || dir[i].name[len] == '\0')
            return dir[i].ino;
    }
    return 0;
}

int resolve(const char *path, int cwd)
{
    if (*path == '\0')
        return 0;
    int ino = *path == '/' ? ROOT : cwd;
    for (;;) {
        while (*path == '/')
            path++;
        if (*path == '\0')
            return ino;
        size_t len = 0;
        while (path[len] != '\0' && path[len] != '/')
            len++;
        int n;
        const struct entry *dir = dir_open(ino, &n);
        if (dir == NULL)
            return 0;
        ino = dir_lookup(dir, n, path, len);
        if (ino == 0)
            return 0;
        path += len;
    }
}
