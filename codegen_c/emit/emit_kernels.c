#include "codegen_c/emit/emit_kernels.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/map.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/core/state.h"
#include "codegen_c/emit/emit_helpers.h"
#include "codegen_c/emit/emit_model.h"
#include "codegen_c/plan/reserve.h"
#include "codegen_c/print/deterministic.h"
#include "codegen_c/print/fold.h"
#include "codegen_c/text/layout.h"
#include "codegen_c/text/linkage.h"

static const char prefix[] = "relayc_";

/* A helper's text, in the order in which they may be pasted. */
struct shared_text {
    const char *text;
    struct map names; /* that it defines */
    int n_users, last_user;
    bool shared;
};

struct sharing {
    struct arena *arena;
    struct map by_text; /* text -> struct shared_text */
    bool same_rules;    /* of arithmetic, in all networks */
};

static struct shared_text *text_at(const struct sharing *sharing, size_t i)
{
    return sharing->by_text.entries[i].value;
}

/* Helpers of one network stand behind those that they read; so they do when they are put behind those of others. */
static void note_text(struct sharing *sharing, const char *text, int user)
{
    struct shared_text *found = map_get(&sharing->by_text, text);

    if (!found) {
        found = arena_new(sharing->arena, struct shared_text);
        *found = (struct shared_text){ .text = text,
                                       .names = { .arena = sharing->arena },
                                       .last_user = -1 };
        find_defined_names(sharing->arena, text, &found->names);
        map_set(&sharing->by_text, text, found);
    }
    found->n_users += found->last_user != user;
    found->last_user = user;
}

static void find_texts(struct sharing *sharing, const struct model_parts *parts, int n)
{
    for (int i = 0; i < n; i++) {
        sharing->same_rules = sharing->same_rules && !*parts[i].texts[0] == !*parts[0].texts[0];
        for (int k = 1; k < parts[i].n - 1; k++)
            if (*parts[i].texts[k])
                note_text(sharing, parts[i].texts[k], i);
    }
}

static bool reads_any(const char *text, const struct map *names)
{
    bool any = false;

    for (size_t i = 0; i < names->n && !any; i++)
        any = has_word(text, names->entries[i].key);
    return any;
}

/* Several networks have it, and none has another of the same name. */
static void find_shared(struct sharing *sharing)
{
    struct map first = { .arena = sharing->arena };

    for (size_t i = 0; i < sharing->by_text.n; i++)
        text_at(sharing, i)->shared = text_at(sharing, i)->n_users > 1;
    for (size_t i = 0; i < sharing->by_text.n; i++) {
        struct shared_text *text = text_at(sharing, i);

        for (size_t k = 0; k < text->names.n; k++) {
            struct shared_text *other = map_get(&first, text->names.entries[k].key);

            if (other)
                text->shared = other->shared = false;
            else
                map_set(&first, text->names.entries[k].key, text);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < sharing->by_text.n; i++)
            for (size_t k = 0; k < sharing->by_text.n && text_at(sharing, i)->shared; k++)
                if (!text_at(sharing, k)->shared &&
                    reads_any(text_at(sharing, i)->text, &text_at(sharing, k)->names)) {
                    text_at(sharing, i)->shared = false;
                    changed = true;
                }
    }
}

static bool has_floats(const char *text)
{
    return strstr(text, "float") || strstr(text, "double");
}

/* The texts of both files, and the names of the functions that are compiled once. Floats are computed under the rules
 * of the network that asks for them. */
static void write_texts(struct sharing *sharing, struct kernels *kernels, struct map *functions)
{
    struct str header = { .arena = sharing->arena }, source = { .arena = sharing->arena };

    for (size_t i = 0; i < sharing->by_text.n; i++) {
        const struct shared_text *text = text_at(sharing, i);
        struct str declared = { .arena = sharing->arena };

        if (!text->shared)
            continue;
        kernels->n++;
        if ((sharing->same_rules || !has_floats(text->text)) &&
            linkage_split(sharing->arena, text->text, &source, &declared, functions))
            str_add(&header, str_text(&declared));
        else
            str_add(&header, linkage_mark(sharing->arena, text->text, "MAYBE_UNUSED"));
    }
    kernels->header = linkage_rename(
        sharing->arena, sections_joined(sharing->arena, str_text(&header)), functions, prefix);
    kernels->source = linkage_rename(
        sharing->arena, sections_joined(sharing->arena, str_text(&source)), functions, prefix);
    kernels->n_functions = (int)functions->n;
}

static void take_shared(const struct sharing *sharing, struct codegen *codegen,
                        struct model_parts *parts, const struct map *functions)
{
    for (int k = 1; k < parts->n - 1; k++)
        if (*parts->texts[k] &&
            ((struct shared_text *)map_get(&sharing->by_text, parts->texts[k]))->shared)
            parts->texts[k] = "";
    for (int k = 1; k < parts->n; k++)
        parts->texts[k] = linkage_rename(sharing->arena, parts->texts[k], functions, prefix);
    for (int r = 0; r < codegen->n_regions; r++)
        if (map_get(functions, codegen->regions[r].c_name))
            codegen->regions[r].c_name =
                arena_printf(sharing->arena, "%s%s", prefix, codegen->regions[r].c_name);
    fold_rename_results(codegen);
}

/* --- the files -------------------------------------------------------------------------------- */

static const char unused[] =
    "#ifdef __GNUC__\n"
    "#define MAYBE_UNUSED __attribute__((unused)) /* not every network calls it */\n"
    "#else\n"
    "#define MAYBE_UNUSED\n"
    "#endif\n\n";

static const char begin_c[] = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
static const char end_c[] = "#ifdef __cplusplus\n}\n#endif\n\n";

/* System headers that any of the networks includes, those that only some CPUs have, and what C++ needs. */
static const char *header_head(struct codegen *const all[], int n, const char *text)
{
    struct arena *arena = &all[0]->arena;
    struct map includes = { .arena = arena }, conditions = { .arena = arena };
    struct str out = { .arena = arena };

    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < all[i]->includes.n; k++)
            if (*all[i]->includes.entries[k].key != '"')
                map_set(&includes, all[i]->includes.entries[k].key, all[i]);
        for (size_t k = 0; k < all[i]->includes_if.n; k++)
            map_set(&conditions, all[i]->includes_if.entries[k].key,
                    all[i]->includes_if.entries[k].value);
    }
    add_system_includes(arena, &out, &includes);
    add_includes_if(all[0], &out, &conditions);
    add_restrict_of_cpp(&out, &text, 1);
    str_add(&out, strstr(text, "MAYBE_UNUSED") ? unused : "");
    return str_text(&out);
}

static const char *source_head(struct codegen *const all[], int n)
{
    struct str out = { .arena = &all[0]->arena };
    bool strict = false, rounded = false;

    for (int i = 0; i < n; i++) {
        strict = strict || all[i]->strict;
        rounded = rounded || rounds_products(all[i]);
    }
    if (strict) {
        str_add(&out, "#include <float.h>\n\n");
        add_strict_arithmetic(all[0], "relayc_kernels.c", false, &out);
    } else if (rounded) {
        add_rounded_products(all[0], &out);
    }
    return str_text(&out);
}

struct kernels *kernels_share(struct codegen *const all[], struct model_parts *parts, int n)
{
    struct arena *arena = &all[0]->arena;
    struct kernels *kernels = arena_new(arena, struct kernels);
    struct sharing sharing = { .arena = arena, .by_text = { .arena = arena }, .same_rules = true };
    struct map functions = { .arena = arena };

    find_texts(&sharing, parts, n);
    find_shared(&sharing);
    write_texts(&sharing, kernels, &functions);
    if (!kernels->n)
        return kernels;
    for (int i = 0; i < n; i++) {
        take_shared(&sharing, all[i], &parts[i], &functions);
        all[i]->kernels = kernels;
    }
    kernels->header = arena_printf(arena, "%s%s%s%s", header_head(all, n, kernels->header), begin_c,
                                   layout(arena, kernels->header), end_c);
    kernels->source = arena_printf(arena, "%s#include \"relayc_kernels.h\"\n\n%s",
                                   source_head(all, n), layout(arena, kernels->source));
    kernels->id = (uint32_t)crc32_z(
        crc32_z(0, (const unsigned char *)kernels->header, strlen(kernels->header)),
        (const unsigned char *)kernels->source, strlen(kernels->source));
    return kernels;
}

enum { MAX_FILE = 23 }; /* letters that fit a line of 100 */

/* Compilers stop where a file is of another compilation. */
static void add_check(struct str *out, const struct kernels *kernels, const char *file)
{
    str_printf(out,
               "#if RELAYC_KERNELS_ID != 0x%08" PRIx32 "u\n"
               "#error \"relayc_kernels.h and %s are of two compilations: take all files of one\"\n"
               "#endif\n\n",
               kernels->id, strlen(file) > MAX_FILE ? "this file" : file);
}

void add_kernels_include(struct codegen *codegen, struct str *out)
{
    if (!codegen->kernels)
        return;
    str_add(out, "#include \"relayc_kernels.h\"\n\n");
    add_check(out, codegen->kernels, arena_printf(&codegen->arena, "%s.c", codegen->options->name));
}

static void add_networks(struct str *out, struct codegen *const all[], int n)
{
    for (int i = 0; i < n; i++)
        str_printf(out, " *    %s\n", all[i]->options->name);
    str_add(out, " */\n");
}

void emit_kernels(struct codegen *const all[], int n, const struct kernels *kernels,
                  const char *paths[])
{
    static const char *const suffixes[] = { "h", "c" };
    struct arena *arena = &all[0]->arena;

    for (int i = 0; i < 2; i++) {
        struct str out = { .arena = arena };

        paths[i] = arena_printf(&all[0]->ctx->perm, "%s/relayc_kernels.%s", all[0]->options->dir,
                                suffixes[i]);
        str_printf(&out,
                   "/* relayc_kernels.%s - generated by relayc; do not edit.\n *\n"
                   " * %s\n",
                   suffixes[i],
                   i == 0 ? "Functions of the kernels of several networks in one program:"
                          : "Those of relayc_kernels.h that are compiled once, for:");
        add_networks(&out, all, n);
        if (i == 0)
            str_printf(&out,
                       "#ifndef RELAYC_KERNELS_H\n#define RELAYC_KERNELS_H\n\n"
                       "#define RELAYC_KERNELS_ID 0x%08" PRIx32 "u\n\n%s#endif\n",
                       kernels->id, kernels->header);
        else
            str_add(&out, kernels->source);
        writer_text(output_open(all[0]->set, paths[i]), str_text(&out));
    }
}
