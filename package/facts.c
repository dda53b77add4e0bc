/* facts.c - the keys of the templates: what the models say, and what only their owner knows (--set). */
#include <string.h>

#include "base/embedded.h"
#include "include/relayc/relayc.h"
#include "package/package.h"

/* What --set may say, and what stands there without: a text that the ecosystems' own checks refuse to publish, or none
 * that could be taken for an answer. */
static const struct fact {
    const char *key, *missing;
} facts[] = {
    { "vendor", "VENDOR" },           { "version", "0.0.1" },
    { "author", "AUTHOR" },           { "email", "author@invalid" },
    { "url", "https://url.invalid" }, { "licence", "LicenseRef-UNKNOWN" },
    { "description", NULL },
};
enum { N_FACTS = sizeof facts / sizeof *facts };

void package_key(struct package *package, const char *key, const char *text)
{
    map_set(&package->keys, key, arena_strdup(&package->ctx->perm, text));
}

bool package_expand(struct package *package, const char *file, struct str *out)
{
    struct arena *arena = &package->ctx->perm;
    const char *path = arena_printf(arena, "templates/package/%s.in", file);
    const struct embedded_file *embedded = embedded_find(path);
    const char *at = embedded ? embedded->text : "";

    if (!embedded)
        return diag_error(package->ctx, DIAG_INTERNAL, NULL, "there is no %s", path);
    for (const char *mark = at; (mark = strchr(mark, '@')) != NULL;) {
        const size_t n = strspn(mark + 1, "abcdefghijklmnopqrstuvwxyzNAME_");
        char *key;
        const char *text;

        if (!n || mark[n + 1] != '@') { /* an @ of the file's own language */
            mark++;
            continue;
        }
        key = arena_alloc(arena, n + 1);
        memcpy(key, mark + 1, n);
        key[n] = '\0';
        text = map_get(&package->keys, key);
        if (!text)
            return diag_error(package->ctx, DIAG_INTERNAL, NULL, "%s: unknown key '@%s@'", path,
                              key);
        str_addn(out, at, (size_t)(mark - at));
        str_add(out, text);
        mark = at = mark + n + 2;
    }
    str_add(out, at);
    return true;
}

static bool take_facts(struct package *package)
{
    const char *names[N_FACTS];

    for (int i = 0; i < N_FACTS; i++) {
        names[i] = facts[i].key;
        package_key(package, facts[i].key, facts[i].missing ? facts[i].missing : "");
    }
    for (int i = 0; i < package->n_facts; i++) {
        const char *given = package->facts[i], *equals = strchr(given, '=');
        char *key = arena_strdup(&package->ctx->perm, given);

        key[equals ? equals - given : 0] = '\0';
        if (!equals || !map_get(&package->keys, key)) {
            const char *near = str_nearest(key, names, N_FACTS);

            diag_error(package->ctx, DIAG_USAGE, NULL,
                       "--set: expected KEY=VALUE with a key of packages, found '%s'",
                       str_safe(&package->ctx->perm, given, 80));
            diag_help(package->ctx,
                      "%s%s%skeys are vendor, version, author, email, url, licence, description",
                      near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
            return false;
        }
        if (strpbrk(equals + 1, "\"\\<>&\n"))
            return diag_error(package->ctx, DIAG_USAGE, NULL,
                              "--set: the value of %s must be without quotes, \\, <, >, & and "
                              "line ends, which the "
                              "manifests' formats take for their own",
                              key);
        package_key(package, key, equals + 1);
    }
    return true;
}

/* "src/kws.c src/kws_weights.c" and the same for other formats: a text around each file. */
static void list_files(struct package *package, const char *key, const char *suffix,
                       const char *format)
{
    struct str text = { .arena = &package->ctx->perm };

    for (int i = 0; i < package->n_models; i++)
        for (int k = 0; k < package->models[i].n_files; k++)
            if (str_ends(package->models[i].files[k], suffix))
                str_printf(&text, format, package->models[i].files[k]);
    str_printf(&text, format,
               arena_printf(&package->ctx->perm, "%s_selftest%s", package->name, suffix));
    if (package->shares_arena && strcmp(suffix, ".h") == 0)
        str_printf(&text, format, "shared_arena.h");
    if (package->shares_kernels)
        str_printf(&text, format, arena_printf(&package->ctx->perm, "relayc_kernels%s", suffix));
    package_key(package, key, str_text(&text));
}

static void describe_models(struct package *package)
{
    struct str text = { .arena = &package->ctx->perm }, includes = { .arena = &package->ctx->perm };
    size_t ram = 0, flash = 0, stack = 0;
    bool quantised = false;

    for (int i = 0; i < package->n_models; i++) {
        const struct package_model *m = &package->models[i];

        str_printf(&text, "| %s | %s | %zu | %zu |\n", m->name, m->source ? m->source : "?",
                   m->arena_bytes, m->weight_bytes);
        str_printf(&includes, "%s%s.h", i ? "," : "", m->name);
        ram = package->shares_arena ? (ram > m->arena_bytes ? ram : m->arena_bytes)
                                    : ram + m->arena_bytes;
        flash += m->weight_bytes;
        quantised = quantised || (m->options && strstr(m->options, "--precision"));
        stack = stack > m->stack_bytes ? stack : m->stack_bytes;
    }
    package_key(package, "models", str_text(&text));
    package_key(package, "header_list", str_text(&includes));
    /* A sum that is rounded the other way moves a quantised result by a step of its codes. */
    package_key(package, "tolerance", quantised ? "0.02f" : "0.001f");
    package_key(package, "ram", arena_printf(&package->ctx->perm, "%zu", ram));
    package_key(package, "flash", arena_printf(&package->ctx->perm, "%zu", flash));
    package_key(package, "stack",
                arena_printf(&package->ctx->perm, "%zu", stack ? stack + 2048 : 8192));
    package_key(package, "stack_why",
                stack ? arena_printf(&package->ctx->perm,
                                     "%zu bytes measured with --cc, and 2048 for what calls it",
                                     stack)
                      : "not measured: compile with --cc COMPILER, and package again");
    if (!*(const char *)map_get(&package->keys, "description"))
        package_key(package, "description",
                    arena_printf(&package->ctx->perm,
                                 "The neural network %s as C without dependencies", package->name));
}

/* A set may have several headers: a library's own is the first model's. */
bool package_collect_keys(struct package *package)
{
    struct arena *arena = &package->ctx->perm;
    struct str place = { .arena = arena };

    if (!take_facts(package))
        return false;
    package_key(package, "name", package->name);
    package_key(package, "NAME", package_upper(arena, package->name));
    package_key(package, "model", package->models[0].name);
    package_key(package, "relayc", RELAYC_VERSION);
    list_files(package, "sources", ".c", " src/%s");
    list_files(package, "headers", ".h", " src/%s");
    list_files(package, "pdsc_sources", ".c",
               "        <file category=\"source\" name=\"src/%s\"/>\n");
    list_files(package, "clayer_sources", ".c", "        - file: src/%s\n");
    describe_models(package);
    for (int i = 0; i < (package->shares_arena ? 1 : package->n_models); i++)
        for (int p = 0; p < package->models[i].n_pools; p++)
            str_printf(&place, "    -D'%s_%s_PLACE=__attribute__((section(\".dtcm\")))'\n",
                       package->models[i].upper,
                       package_upper(arena, package->models[i].pools[p].parameter));
    package_key(package, "places", str_text(&place));
    return true;
}
