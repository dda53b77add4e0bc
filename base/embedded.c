#include "base/embedded.h"

#include <string.h>

const struct embedded_file *embedded_find(const char *path)
{
    for (size_t i = 0; i < n_embedded_files; i++)
        if (strcmp(embedded_files[i].path, path) == 0)
            return &embedded_files[i];
    return NULL;
}

const struct embedded_file *embedded_find_below(const char *folder, const char *name)
{
    const size_t n = strlen(folder);

    for (size_t i = 0; i < n_embedded_files; i++) {
        const char *path = embedded_files[i].path;
        const char *slash = strncmp(path, folder, n) == 0 ? strchr(path + n, '/') : NULL;

        if (slash && strcmp(slash + 1, name) == 0)
            return &embedded_files[i];
    }
    return NULL;
}
