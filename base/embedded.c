#include "base/embedded.h"

#include <string.h>

const struct embedded_file *embedded_find(const char *path)
{
    for (size_t i = 0; i < n_embedded_files; i++)
        if (strcmp(embedded_files[i].path, path) == 0)
            return &embedded_files[i];
    return NULL;
}
