/* bf16.c - see bf16.h. */
#include "codegen_c/microkernel/bf16.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/limits.h"

enum { COLUMNS = 100 };

static uint32_t bits_of(float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* The least non-zero magnitude of a format; 0 if there is no such format, or if a value is not
 * exact in bf16. */
static float least_number(const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);
    float least = INFINITY;

    if (!format || minifloat_bits(format) != 8 || format->specials == MINIFLOAT_FNUZ)
        return 0;
    for (unsigned code = 0; code < minifloat_sign(format); code++) {
        const float number = minifloat_decode(format, code);

        if (bits_of(number) & 0xFFFF || (number != 0 && number < FLT_MIN))
            return 0;
        if (number != 0 && number < least)
            least = number;
    }
    return least;
}

bool takes_bf16(const struct region *region, const char **why)
{
    const struct machine *machine = region->machine;

    *why = "the machine has no products of bf16";
    if (!machine->bf16 || machine->lanes != BF16_LANES)
        return false;
    *why = "data or weights are no floats of a byte whose products are normal numbers";
    return !anchor_decoder(region->anchor, 0) && !type_has_blocks(anchor_input(region, 1)) &&
           least_number(&anchor_source(region, 0)->type) * least_number(anchor_input(region, 1)) >=
               FLT_MIN;
}

/* The lower or upper bytes of the bf16 of all magnitudes, as lines of text. */
static const char *bytes_text(struct bind *bind, const struct minifloat *format, int shift)
{
    const unsigned n = minifloat_sign(format); /* of magnitudes */
    struct str out = { .arena = bind->arena };
    int column = COLUMNS;

    for (unsigned code = 0; code < n; code++) {
        const float number = minifloat_decode(format, code);
        const uint32_t bits = isnan(number) ? 0x7FC00000 : bits_of(number);
        const char *text = arena_printf(bind->arena, "%u", (unsigned)(bits >> shift & 0xFF));
        const bool wraps = column + (int)strlen(text) + 2 > COLUMNS && code > 0;

        str_printf(&out, "%s%s%s", text, code + 1 < n ? "," : "",
                   code + 1 == n ? ""
                   : wraps       ? "\n      "
                                 : " ");
        column = wraps ? 0 : code == 0 ? 0 : column + (int)strlen(text) + 2;
    }
    return str_text(&out);
}

/* The table of a format's magnitudes as bf16. */
static const char *bf16_bytes(struct bind *bind, const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);
    const char *name = arena_printf(bind->arena, "%s_bf16_bytes", decode_name(bind, type));
    const char *table = bind_own_helper(bind, name);
    struct keys keys;

    if (table)
        return table;
    bind_include(bind, "stdint.h");
    keys_init(&keys, bind->arena);
    keys_set(&keys, "format", format->name);
    keys_set_int(&keys, "magnitudes", (int)minifloat_sign(format));
    keys_set(&keys, "low", bytes_text(bind, format, 16));
    keys_set(&keys, "high", bytes_text(bind, format, 24));
    return bind_new_helper(bind, name, "templates/helpers/bf16_bytes.c.tmpl", &keys);
}

const char *bf16_unpack(struct bind *bind, const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);
    const char *name = arena_printf(bind->arena, "%s_bf16", decode_name(bind, type));
    const char *function = bind_own_helper(bind, name);
    struct keys keys;

    if (function)
        return function;
    bind_vector(bind); /* WIDE */
    keys_init(&keys, bind->arena);
    keys_set(&keys, "format", format->name);
    keys_set(&keys, "bytes", bf16_bytes(bind, type));
    keys_set_flag(&keys, "signless", format->sign == MINIFLOAT_UNSIGNED);
    return bind_new_helper(bind, name, "templates/helpers/unpack_bf16.c.tmpl", &keys);
}

/* --- tiles ------------------------------------------------------------------------------------ */

static const char *list_text(struct bind *bind, const char *format, int n)
{
    struct str out = { .arena = bind->arena };

    for (int i = 0; i < n; i++)
        str_printf(&out, format, i);
    return str_text(&out);
}

const char *bf16_tile(struct bind *bind, int vectors, int pixels, const struct epilogue_store *end,
                      bool some)
{
    const char *name = arena_printf(bind->arena, "tile_bf16_%dx%d%s%s", vectors, pixels,
                                    !end   ? ""
                                    : some ? "_some"
                                           : "_stored",
                                    end ? end->name : "");
    const char *function = bind_own_helper(bind, name);
    struct keys keys;

    if (function)
        return function;
    bind_vector(bind);
    bind_bytes_helper(bind, "add_bf16");
    keys_init(&keys, bind->arena);
    keys_set(&keys, "vectors", list_text(bind, " DO(j, %d)", vectors));
    keys_set(&keys, "pixels", list_text(bind, " DO(%d)", pixels));
    keys_offer(&keys, "tile", arena_printf(bind->arena, "%d", vectors * BF16_LANES));
    keys_set_flag(&keys, "lone", pixels == 1);
    epilogue_store_keys(bind, end, "sum##j##v", some, true, &keys);
    return bind_new_helper(bind, name, "templates/helpers/tile_bf16.c.tmpl", &keys);
}

/* --- rows of depthwise convolutions ----------------------------------------------------------- */

int64_t bf16_row_words(const struct bf16_row *row)
{
    return row->k_h * ((row->k_w + 1) / 2);
}

/* Where the words of a tap in kernel row kh are: "two0[(j * 2 + 1) * 16]". */
static const char *read_text(struct bind *bind, const struct bf16_row *row, int64_t kh, int64_t kw)
{
    const char *words = kw + 1 < row->k_w ? "two" : "one";
    const int step = row->pixel < BF16_LANES ? BF16_LANES : (int)row->stride * row->pixel;

    return arena_printf(bind->arena, kw ? "%s%d[(j + t) * %d + %d]" : "%s%d[(j + t) * %d]", words,
                        (int)kh, step, (int)kw * row->pixel);
}

const char *bf16_row(struct bind *bind, const struct bf16_row *row,
                     const struct epilogue_store *end)
{
    const char *name = arena_printf(
        bind->arena, "row_bf16_%dx%d_by_%d%s%s%s%s", (int)row->k_h, (int)row->k_w, row->together,
        row->stride > 1 ? arena_printf(bind->arena, "_stride_%d", (int)row->stride) : "",
        row->pixel < BF16_LANES ? "_twice" : "",
        !end        ? ""
        : row->some ? "_some"
                    : "_stored",
        end ? end->name : "");
    const char *function = bind_own_helper(bind, name);
    struct keys keys;
    int n = 0;

    if (function)
        return function;
    bind_vector(bind);
    bind_bytes_helper(bind, "add_bf16");
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "k_h", row->k_h);
    keys_set_int(&keys, "k_w", row->k_w);
    keys_set_int(&keys, "n_words", bf16_row_words(row));
    keys_set_int(&keys, "lanes", BF16_LANES);
    keys_set_flag(&keys, "odd", row->k_w % 2 != 0);
    keys_set_flag(&keys, "pairs", row->k_w > 1);
    keys_set(&keys, "pixels", list_text(bind, " DO(%d)", row->together));
    keys_set_int(&keys, "together", row->together);
    for (int64_t kh = 0; kh < row->k_h; kh++)
        for (int64_t kw = 0; kw < row->k_w; kw += 2)
            keys_set(&keys, arena_printf(bind->arena, "read%d", n++), read_text(bind, row, kh, kw));
    epilogue_store_keys(bind, end, "sum", row->some, false, &keys);
    return bind_new_helper(bind, name, "templates/helpers/row_bf16.c.tmpl", &keys);
}

const char *bf16_unpack_row(struct bind *bind, const struct type *type, bool flat)
{
    const char *name =
        arena_printf(bind->arena, "%s_bf16_%s", decode_name(bind, type), flat ? "words" : "pixels");
    const char *function = bind_own_helper(bind, name);
    struct keys keys;

    if (function)
        return function;
    bind_vector(bind); /* WIDE */
    keys_init(&keys, bind->arena);
    keys_set(&keys, "format", type_minifloat(type)->name);
    keys_set(&keys, "bytes", bf16_bytes(bind, type));
    keys_set_flag(&keys, "flat", flat);
    keys_set_flag(&keys, "signless", type_minifloat(type)->sign == MINIFLOAT_UNSIGNED);
    return bind_new_helper(bind, name, "templates/helpers/unpack_row_bf16.c.tmpl", &keys);
}
