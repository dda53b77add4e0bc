/* emit_weights.c - the constant arrays: numbers, or, in large networks, 64-bit words, because the time and memory of a
 * C compiler grow with the number of initialisers and not with the bytes. */
#include "codegen_c/emit/emit_weights.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codegen_c/byoc/external.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/emit/emit_header.h"
#include "codegen_c/emit/emit_model.h"
#include "codegen_c/emit/identity.h"
#include "codegen_c/emit/weight_words.h"
#include "codegen_c/machine/conditions.h"
#include "codegen_c/text/literal.h"

enum {
    INLINE_BYTES = 8 * 1024,
    FILE_BYTES = 16 * 1024 * 1024, /* of payload: gcc needs about 30 times that for its work */
    COLUMNS = 100,
    TEXT_BYTES = 64 * 1024 /* of numbers, before they are written */
};

/* Inline, an array is defined in the first file that reads it: NAME.c, then the targets' in order
 * of use. */
static bool is_defined_in(const struct weight *weight, int reader)
{
    return (weight->readers >> reader & 1) &&
           (weight->readers & (((uint64_t)1 << reader) - 1)) == 0;
}

static bool is_shared(const struct weight *weight)
{
    return (weight->readers & (weight->readers - 1)) != 0;
}

/* Whether a readable array of a weights file, or of the reader's file, needs INFINITY or NAN. */
static bool needs_math_header(const struct codegen *codegen, int file, int reader)
{
    for (const struct weight *w = codegen->weights.first; w; w = w->next) {
        const bool is_here = codegen->inline_weights ? is_defined_in(w, reader) : w->file == file;
        bool needs = false;

        if (w->words || !is_here || !dtype_is_float(w->stored.dtype))
            continue;
        for (int64_t i = 0; i < type_elements(&w->stored) && !needs; i++)
            needs = !isfinite(dtype_load(w->stored.dtype, w->data, i));
        if (needs)
            return true;
    }
    return false;
}

void place_weights(struct codegen *codegen)
{
    const enum weights_form form = codegen->options->weights;
    size_t bytes = 0;

    codegen->inline_weights =
        form == WEIGHTS_INLINE || (form == WEIGHTS_AUTO && codegen->weights.bytes <= INLINE_BYTES);
    if (codegen->inline_weights && needs_math_header(codegen, 0, 0))
        map_set(&codegen->includes, "math.h", codegen);
    for (int i = 0; i < codegen->n_modules; i++)
        if (codegen->inline_weights && needs_math_header(codegen, 0, codegen->modules[i].reader))
            map_set(&codegen->modules[i].includes, "math.h", codegen);
    if (codegen->inline_weights || codegen->weights.n == 0)
        return;
    codegen->n_weight_files = 1;
    for (struct weight *w = codegen->weights.first; w; w = w->next) {
        const size_t more = type_bytes(&w->stored);

        if (bytes > 0 && bytes + more > FILE_BYTES) {
            codegen->n_weight_files++;
            bytes = 0;
        }
        w->file = codegen->n_weight_files - 1;
        bytes += more;
    }
}

/* conv1.weight: f32 [64,3,7,7] OHWI, -0.5 .. 0.75, crc32 9f2c11aa */
static void write_comment(struct codegen *codegen, struct writer *out, const struct weight *w)
{
    struct arena *arena = &codegen->arena;
    const char *what = arena_printf(arena, "%s: %s%s%s", comment_safe(arena, w->name, 80),
                                    shape_comment(arena, &w->type), *w->layout ? " " : "",
                                    comment_safe(arena, w->layout, 80));
    const char *range = w->own || isnan(w->least)
                            ? ""
                            : arena_printf(arena, "%.6g .. %.6g, ", w->least, w->greatest);
    const size_t width = strlen(what) + strlen(range) + strlen("/* , crc32 01234567 */");

    writer_printf(out, "/* %s,%s%scrc32 %08" PRIx32 " */\n", what, width > COLUMNS ? "\n * " : " ",
                  range, w->crc32);
}

static void write_numbers(struct codegen *codegen, struct writer *out, const struct weight *w)
{
    const int64_t n = type_elements(&w->stored);
    struct str text = { .arena = &codegen->arena };
    size_t column = 0;
    bool needs_math = false;
    struct arena line = { NULL };

    writer_text(out, "{\n");
    for (int64_t i = 0; i < n; i++) {
        const char *number = literal_of_element(&line, w->stored.dtype, w->data, i, &needs_math);

        if (column == 0 || column + strlen(number) + 2 > COLUMNS) {
            str_add(&text, column ? "\n    " : "    ");
            column = 4;
        } else {
            str_add(&text, " ");
            column++;
        }
        str_printf(&text, "%s,", number);
        column += strlen(number) + 1;
        if (text.n > TEXT_BYTES) {
            writer_write(out, text.text, text.n);
            str_clear(&text);
            arena_release(&line);
        }
    }
    arena_release(&line);
    writer_printf(out, "%s\n}", n ? str_text(&text) : "    0,");
}

static void write_union(struct writer *out, const struct weight *w)
{
    writer_printf(out, "union %s {\n    uint64_t word[%" PRId64 "];\n    %s v[%" PRId64 "];\n}",
                  w->c_name, n_words(w), dtype_c_type(w->stored.dtype), type_elements(&w->stored));
}

static const char *array_declarator(struct codegen *codegen, const struct weight *w)
{
    const int64_t n = type_elements(&w->stored);

    return arena_printf(&codegen->arena, "const %s %s[%" PRId64 "]", dtype_c_type(w->stored.dtype),
                        w->c_name, n ? n : 1);
}

/* As it stands in the only file that reads it, or for several; `declared`: a header or another file
 * knows its type. */
static void write_definition(struct codegen *codegen, struct writer *out, const struct weight *w,
                             bool declared)
{
    const char *storage = declared || is_shared(w) ? "" : "static ";

    write_comment(codegen, out, w);
    if (!w->words) {
        writer_printf(out, "%s%s%s%s%s = ", storage, array_declarator(codegen, w),
                      w->pool ? " " : "", w->pool ? section_macro(codegen, w->pool) : "",
                      weight_is_large(w) ? " CACHE_LINE" : "");
        write_numbers(codegen, out, w);
    } else {
        writer_printf(out, "%sconst ", storage);
        if (declared)
            writer_printf(out, "union %s", w->c_name);
        else
            write_union(out, w);
        writer_printf(out, " %s %s = ", w->c_name,
                      w->pool ? section_macro(codegen, w->pool) : "CACHE_LINE");
        write_words(out, w);
    }
    writer_text(out, ";\n\n");
}

static const uint64_t any_reader = UINT64_MAX;

static bool has_words(const struct codegen *codegen, uint64_t readers)
{
    const struct weight *w = codegen->weights.first;

    while (w && !(w->words && (w->readers & readers)))
        w = w->next;
    return w != NULL;
}

static bool has_large(const struct codegen *codegen, uint64_t readers)
{
    const struct weight *w = codegen->weights.first;

    while (w && !(weight_is_large(w) && (w->readers & readers)))
        w = w->next;
    return w != NULL;
}

static const char words_rule[] =
    "/* The largest arrays are 64-bit words, the first element in the low bits. */\n"
    "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
    "#error \"the words of the weights are for little-endian machines\"\n"
    "#endif\n\n";

/* Vectors of weights that lie across two lines of the cache cost a quarter of a dense layer's time (Sapphire Rapids,
 * ad_autoencoder). 16 elsewhere: x86-64's ABI has at least that for arrays, so that C for another CPU, built there, must
 * not ask for less. */
static const char line_rule[] = "/* Arrays begin at a cache line, or at 16 bytes. */\n"
                                "#if defined __x86_64__ || defined __aarch64__\n"
                                "#define CACHE_LINE __attribute__((aligned(64)))\n"
                                "#elif defined __GNUC__\n"
                                "#define CACHE_LINE __attribute__((aligned(16)))\n"
                                "#else\n"
                                "#define CACHE_LINE\n"
                                "#endif\n\n";

/* What stands before the arrays of a file. */
static void write_rules(struct codegen *codegen, struct writer *out, uint64_t readers)
{
    const char *line = line_rule;

    if (has_words(codegen, readers))
        writer_text(out, words_rule);
    conditions_resolve(&codegen->arena, codegen->machine, &line, 1);
    if (has_large(codegen, readers))
        writer_text(out, line);
}

const char *section_macro(struct codegen *codegen, const struct codegen_pool *pool)
{
    return arena_printf(&codegen->arena, "%s_IN_%s", codegen->upper,
                        upper_case(&codegen->arena, pool->name));
}

/* The section's name as a string literal's text. */
static const char *section_text(struct codegen *codegen, const struct codegen_pool *pool)
{
    char *copy = arena_strdup(&codegen->arena, comment_safe(&codegen->arena, pool->section, 60));

    for (char *c = copy; *c; c++)
        if (*c == '"' || *c == '\\')
            *c = '_';
    return copy;
}

/* The attributes of arrays that stand in a weights file, or in the file of a reader. */
static void write_sections(struct codegen *codegen, struct writer *out, int file, int reader)
{
    for (int p = 0; p < codegen->options->n_pools; p++) {
        const struct codegen_pool *pool = &codegen->options->pools[p];
        const struct weight *w = codegen->weights.first;
        const char *macro = section_macro(codegen, pool);

        while (w && (w->pool != pool ||
                     (codegen->inline_weights ? !is_defined_in(w, reader) : w->file != file)))
            w = w->next;
        if (w)
            writer_printf(
                out,
                "/* Constants for the pool %s; other compilers need a word of theirs, -D%s=... "
                "*/\n"
                "#ifndef %s\n"
                "#if defined __GNUC__ && defined __ELF__\n"
                "#define %s __attribute__((section(\"%s\"), used)) /* also where the compiler "
                "knows its numbers */\n"
                "#else\n#define %s\n#endif\n#endif\n\n",
                pool->name, macro, macro, macro, section_text(codegen, pool), macro);
    }
}

static void write_declaration(struct codegen *codegen, struct writer *out, const struct weight *w)
{
    write_comment(codegen, out, w);
    if (w->words) {
        writer_text(out, "extern const ");
        write_union(out, w);
        writer_printf(out, " %s;\n\n", w->c_name);
    } else {
        writer_printf(out, "extern %s;\n\n", array_declarator(codegen, w));
    }
}

void write_inline_weights(struct codegen *codegen, struct writer *out, int reader)
{
    struct str title = { .arena = &codegen->arena };

    if (!codegen->inline_weights || !weights_are_read(codegen, reader))
        return;
    add_section(&title, "constants");
    writer_text(out, str_text(&title));
    write_rules(codegen, out, (uint64_t)1 << reader);
    write_sections(codegen, out, 0, reader);
    for (const struct weight *w = codegen->weights.first; w; w = w->next)
        if (is_defined_in(w, reader))
            write_definition(codegen, out, w, false);
        else if (w->readers >> reader & 1)
            write_declaration(codegen, out, w);
}

static void write_check(struct codegen *codegen, struct writer *out, const char *suffix)
{
    struct str check = { .arena = &codegen->arena };

    str_printf(&check, "#include \"%s.h\"\n\n", codegen->options->name);
    add_data_check(codegen, &check, suffix);
    writer_text(out, str_text(&check));
}

static const char *first_line(struct codegen *codegen, const char *suffix)
{
    return generated_from(codegen,
                          arena_printf(&codegen->arena, "%s%s", codegen->options->name, suffix));
}

static void write_declarations(struct codegen *codegen)
{
    struct writer *out = emit_open(codegen, "_weights.h");

    writer_printf(out, "%s */\n", first_line(codegen, "_weights.h"));
    writer_printf(out, "#ifndef %s_WEIGHTS_H\n#define %s_WEIGHTS_H\n\n#include <stdint.h>\n\n",
                  codegen->upper, codegen->upper);
    write_check(codegen, out, "_weights.h");
    writer_text(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (const struct weight *w = codegen->weights.first; w; w = w->next)
        write_declaration(codegen, out, w);
    writer_text(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

static const char *file_suffix(struct codegen *codegen, int file)
{
    return file ? arena_printf(&codegen->arena, "_weights_%d.c", file + 1) : "_weights.c";
}

const char *weights_file(struct codegen *codegen, int file)
{
    return arena_printf(&codegen->arena, "%s%s", codegen->options->name,
                        file_suffix(codegen, file));
}

static void write_file(struct codegen *codegen, int file)
{
    const char *suffix = file_suffix(codegen, file);
    struct writer *out = emit_open(codegen, suffix);

    writer_printf(out, "%s */\n", first_line(codegen, suffix));
    writer_printf(out, "#include \"%s_weights.h\"\n", codegen->options->name);
    write_check(codegen, out, suffix);
    if (needs_math_header(codegen, file, 0))
        writer_text(out, "#include <math.h>\n\n");
    write_rules(codegen, out, any_reader);
    write_sections(codegen, out, file, 0);
    for (const struct weight *w = codegen->weights.first; w; w = w->next)
        if (w->file == file)
            write_definition(codegen, out, w, true);
}

void emit_weights(struct codegen *codegen)
{
    if (codegen->n_weight_files > 0)
        write_declarations(codegen);
    for (int i = 0; i < codegen->n_weight_files; i++)
        write_file(codegen, i);
}
