/* write.c - the tree of a package. */
#include <string.h>

#include "package/package.h"

static const char *const names[] = {
#define FORMAT(symbol, name) name,
#define FILE_OF(formats, file, path)
#include "package/formats.def"
#undef FORMAT
#undef FILE_OF
    NULL
};

static const struct row {
    unsigned formats;
    const char *file, *path;
} rows[] = {
#define FORMAT(symbol, name)
#define FILE_OF(formats, file, path) { formats, file, path },
#include "package/formats.def"
#undef FORMAT
#undef FILE_OF
};

const char *const *package_format_names(void)
{
    return names;
}

static unsigned format_bit(const char *word)
{
    if (strcmp(word, "all") == 0)
        return (1u << FORMAT_COUNT) - 1;
    for (unsigned i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(names[i], word) == 0)
            return 1u << i;
    return 0;
}

bool package_formats_parse(struct ctx *ctx, const char *text, unsigned *out)
{
    char *words = arena_strdup(&ctx->perm, text), *next;

    *out = 0;
    for (char *word = strtok_r(words, ",", &next); word; word = strtok_r(NULL, ",", &next)) {
        const unsigned bit = format_bit(word);
        const char *near = str_nearest(word, names, FORMAT_COUNT);

        if (!bit) {
            diag_error(ctx, DIAG_USAGE, NULL, "--format: unknown format '%s'",
                       str_safe(&ctx->perm, word, 40));
            diag_help(ctx,
                      "%s%s%sthere are cmake, make, zephyr, arduino, esp-idf, platformio, "
                      "cmsis-pack, conan and all",
                      near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
            return false;
        }
        *out |= bit;
    }
    return *out || diag_error(ctx, DIAG_USAGE, NULL, "--format: no format is named");
}

/* "@vendor@.@name@.pdsc" */
static const char *path_of(struct package *package, const char *pattern)
{
    struct str text = { .arena = &package->ctx->perm };

    for (const char *at = pattern; *at;) {
        const size_t n = *at == '@' ? strcspn(at + 1, "@") : 0;

        if (*at != '@') {
            str_addn(&text, at++, 1);
            continue;
        }
        char *key = arena_alloc(&package->ctx->perm, n + 1);

        memcpy(key, at + 1, n);
        key[n] = '\0';
        str_add(&text, map_get(&package->keys, key));
        at += n + 2;
    }
    return arena_printf(&package->ctx->perm, "%s/%s", package->to, str_text(&text));
}

static bool copy_file(struct package *package, const char *name)
{
    const char *from = arena_printf(&package->ctx->perm, "%s/%s", package->from, name);
    struct mapping file;

    if (!file_map(package->ctx, from, &file))
        return false;
    writer_write(output_open(package->outputs,
                             arena_printf(&package->ctx->perm, "%s/src/%s", package->to, name)),
                 file.data, file.size);
    file_unmap(&file);
    return true;
}

static bool write_models(struct package *package)
{
    struct str test = { .arena = &package->ctx->perm };

    for (int i = 0; i < package->n_models; i++)
        for (int k = 0; k < package->models[i].n_files; k++)
            if (!copy_file(package, package->models[i].files[k]))
                return false;
    if (package->shares_arena && !copy_file(package, "shared_arena.h"))
        return false;
    if (package->shares_kernels && (!copy_file(package, "relayc_kernels.h") ||
                                    !copy_file(package, "relayc_kernels.c")))
        return false;
    if (!package_selftest(package, &test))
        return false;
    writer_text(output_open(package->outputs, path_of(package, "src/@name@_selftest.c")),
                str_text(&test));
    return true;
}

/* Names of C, of CMake's targets and of files: those of C serve all. */
static bool check_name(struct package *package)
{
    const char *name = package->name;

    if (*name &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
            strlen(name) &&
        (*name < '0' || *name > '9'))
        return true;
    return diag_error(package->ctx, DIAG_USAGE, NULL, "--name: '%s' is not a C identifier",
                      str_safe(&package->ctx->perm, name, 40));
}

bool package_write(struct package *package)
{
    if (!package_read(package))
        return false;
    if (!package->name)
        package->name = package->models[0].name;
    if (!check_name(package) || !package_collect_keys(package) || !write_models(package))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str text = { .arena = &package->ctx->perm };

        if (!(rows[i].formats & package->formats))
            continue;
        if (!package_expand(package, rows[i].file, &text))
            return false;
        writer_text(output_open(package->outputs, path_of(package, rows[i].path)), str_text(&text));
    }
    return true;
}
