#define _GNU_SOURCE /* memmem */
#include "tests/support/precompiled.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

/* The header that a compiler's vectors are in. On x86-64 only where flags say which: C for any machine includes it
 * for AVX only. */
static const char *header_of(const char *command)
{
    if (str_starts(command, "gcc ") || str_starts(command, "clang "))
        return strstr(command, " -march=") && !strstr(command, " -U") ? "<immintrin.h>" : NULL;
    if (str_starts(command, "aarch64-linux-gnu-gcc "))
        return "<arm_neon.h>";
    return NULL;
}

static bool includes(struct ctx *ctx, const char *path, const char *header)
{
    const char *line = arena_printf(&ctx->perm, "#include %s\n", header);
    struct mapping file;
    bool found = false;

    if (!file_map(ctx, path, &file))
        return false;
    found = memmem(file.data, file.size, line, strlen(line)) != NULL;
    file_unmap(&file);
    return found;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

/* A file with this text, at once. False if it exists, or cannot be. */
static bool create(struct ctx *ctx, const char *path, const char *text)
{
    char *written = arena_printf(&ctx->perm, "%s.XXXXXX", path);
    const int fd = mkstemp(written);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    ok = ok && link(written, path) == 0;
    if (fd >= 0) {
        close(fd);
        unlink(written);
    }
    return ok;
}

/* Whole, or not at all: others ask for it at the same time. */
static void precompile(struct ctx *ctx, const char *command, const char *path)
{
    const char *made = arena_printf(&ctx->perm, "%s.made", path);

    if (system(arena_printf(&ctx->perm, "%s -x c-header -o %s %s 2>/dev/null", command, made,
                            path)) == 0)
        rename(made, arena_printf(&ctx->perm, "%s.gch", path));
}

const char *precompiled_header(struct ctx *ctx, const char *command, const char *path)
{
    const char *folder = getenv("RELAYC_TEST_HEADERS"), *header = header_of(command), *file,
               *precompiled;

    if (!folder || !header || !includes(ctx, path, header))
        return "";
    file = arena_printf(&ctx->perm, "%s/%016" PRIx64 ".h", folder, hash_of(command));
    precompiled = arena_printf(&ctx->perm, "%s.gch", file);
    if (access(precompiled, R_OK) != 0) {
        /* the first only says that it was there, the second makes it */
        if (create(ctx, file, arena_printf(&ctx->perm, "#include %s\n", header)) ||
            !create(ctx, arena_printf(&ctx->perm, "%s.second", file), ""))
            return "";
        precompile(ctx, command, file);
        if (access(precompiled, R_OK) != 0)
            return "";
    }
    return arena_printf(&ctx->perm, "-include %s", file);
}
