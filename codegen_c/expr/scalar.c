/* scalar.c - see scalar.h; the arithmetic is that of relay_ir/ops. */
#include "codegen_c/expr/scalar.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codegen_c/core/state.h"
#include "codegen_c/expr/codec.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/scalar_qnn.h"
#include "codegen_c/text/literal.h"

/* Element types of rows. */
enum {
    F32 = 1 << 30,
    F64 = 1 << 29,
    FLOAT = F32 | F64,
    INT = 1 << KIND_INT,
    UINT = 1 << KIND_UINT,
    BOOL = 1 << KIND_BOOL,
    WHOLE = INT | UINT,
    NUMBER = FLOAT | WHOLE,
    ANY = NUMBER | BOOL,
    BITS = ANY | 1 << KIND_MINIFLOAT | 1 << KIND_NIBBLE | 1 << KIND_EXPONENT
};

static const struct scalar_row {
    enum op op;
    unsigned kinds;
    const char *text, *needs;
} rows[] = {
#define SCALAR(op, kinds, text, needs) { OP_##op, kinds, text, needs },
#include "codegen_c/expr/scalar_ops.def"
#undef SCALAR
};

/* The element type that selects the row; a `where` selects between values of its own type. */
static enum dtype operand_type(const struct node *node)
{
    return node->inputs[node->op == OP_WHERE ? 1 : 0]->type.dtype;
}

static unsigned operand_kind(const struct node *node)
{
    const enum dtype dtype = operand_type(node);

    return dtype == DTYPE_F32 ? F32 : dtype == DTYPE_F64 ? F64 : 1u << dtype_kind(dtype);
}

/* A conversion between types with arithmetic in C; operand: an expression of type `from`. */
static const char *plain_cast_text(struct arena *arena, enum dtype from, enum dtype to,
                                   const char *operand, const char **needs)
{
    const bool is_float = dtype_is_float(from);
    const bool is_signed = dtype_is_signed(to);
    const int bits = dtype_packed_bits(to);
    const char *wide = from == DTYPE_F32 && bits <= 16 ? "f32" : "f64";
    const char *end = strcmp(wide, "f32") == 0 ? "f" : "";

    if (from == to)
        return operand;
    if (dtype_kind(to) == KIND_BOOL)
        return arena_printf(arena, "(uint8_t)(%s != 0%s ? 1u : 0u)", operand,
                            !is_float           ? ""
                            : from == DTYPE_F32 ? ".0f"
                                                : ".0");
    if (!is_float && bits < 8 && is_signed)
        return arena_printf(arena, "($t)((%s & %d) - (%s & %d))", operand, (1 << (bits - 1)) - 1,
                            operand, 1 << (bits - 1));
    if (!is_float && bits < 8)
        return arena_printf(arena, "($t)(%s & %d)", operand, (1 << bits) - 1);
    if (!is_float || dtype_is_float(to))
        return arena_printf(arena, "($t)%s", operand);
    if (from == DTYPE_F32 && to == DTYPE_I32) {
        *needs = "f32_to_i32";
        return arena_printf(arena, "f32_to_i32(%s)", operand);
    }
    if (from == DTYPE_F32 && bits > 16)
        operand = arena_printf(arena, "(double)%s", operand);
    if (bits == 64) {
        *needs = is_signed ? "f64_to_i64" : "f64_to_u64";
        return arena_printf(arena, "%s(%s)", *needs, operand);
    }
    *needs = arena_printf(arena, "saturate_%s", wide);
    if (is_signed)
        return arena_printf(arena, "($t)%s(%s, -%.1f%s, %.1f%s)", *needs, operand,
                            ldexp(1, bits - 1), end, ldexp(1, bits - 1) - 1, end);
    return arena_printf(arena, "($t)%s(%s, 0.0%s, %.1f%s)", *needs, operand, end,
                        ldexp(1, bits) - 1, end);
}

/* Whether f32 holds every value of the type, so that going through it rounds nothing. */
static bool fits_f32(enum dtype dtype)
{
    return dtype == DTYPE_F32 || (!dtype_is_float(dtype) && dtype_bytes(dtype) <= 2);
}

const char *scalar_decoded(struct arena *arena, const struct type *from, const char *operand,
                           const char **needs)
{
    *needs = from->dtype == DTYPE_BF16 ? "bf16_to_f32" : codec_decoder(arena, decode_format(from));
    return *needs ? arena_printf(arena, "%s(%s)", *needs, operand) : NULL;
}

const char *scalar_encoded(struct arena *arena, const struct type *to, const char *operand,
                           bool saturate, const char **needs)
{
    *needs =
        to->dtype == DTYPE_BF16 ? "f32_to_bf16" : codec_encoder(arena, decode_format(to), saturate);
    return *needs ? arena_printf(arena, "%s(%s)", *needs, operand) : NULL;
}

/* A value as an f32 that rounds to fewer bits as the value itself does; NULL for 64-bit integers,
 * which double does not hold. */
static const char *narrow_text(struct arena *arena, enum dtype from, const char *operand,
                               const char **needs)
{
    if (fits_f32(from))
        return from == DTYPE_F32 ? operand : arena_printf(arena, "(float)%s", operand);
    if (from != DTYPE_F64 && dtype_bytes(from) == 8)
        return NULL;
    *needs = "f64_to_odd_f32";
    return arena_printf(arena, "f64_to_odd_f32(%s%s)", from == DTYPE_F64 ? "" : "(double)",
                        operand);
}

static bool has_codec(enum dtype dtype)
{
    return dtype_kind(dtype) == KIND_MINIFLOAT || dtype_is_half(dtype);
}

/* Casts of minifloats, which go through f32. */
static const char *cast_text(struct arena *arena, const struct node *node, const char **needs)
{
    const struct type *from = &node->inputs[0]->type, *to = &node->outputs[0]->type;
    const bool decodes = has_codec(from->dtype);
    const enum dtype between = decodes ? DTYPE_F32 : from->dtype;
    const char *operand = "$a", *first = "", *odd = "", *second = "";

    if (from->dtype == to->dtype)
        return "$a";
    if (decodes)
        operand = scalar_decoded(arena, from, operand, &first);
    if (operand && has_codec(to->dtype)) {
        operand = narrow_text(arena, between, operand, &odd);
        operand =
            operand ? scalar_encoded(arena, to, operand, node->attrs.cast.saturate, &second) : NULL;
    } else if (operand) {
        operand = plain_cast_text(arena, between, to->dtype, operand, &second);
    }
    if (operand)
        *needs = arena_printf(arena, "%s %s %s", first, odd, second);
    return operand;
}

/* The bounds of an integer type. */
static double least_of(enum dtype dtype)
{
    const int bits = dtype_packed_bits(dtype);

    return dtype_is_signed(dtype) ? -ldexp(1, bits - 1) : 0;
}

static double most_of(enum dtype dtype)
{
    const int bits = dtype_packed_bits(dtype);

    return ldexp(1, dtype_is_signed(dtype) ? bits - 1 : bits) - 1;
}

static const char *clip_whole_text(struct arena *arena, enum dtype dtype, double least, double most)
{
    bool math = false;
    const char *low = literal_of_number(arena, dtype, least, &math);
    const char *high = literal_of_number(arena, dtype, most, &math);
    const bool has_least = least > least_of(dtype), has_most = most < most_of(dtype);

    if (least >= most_of(dtype) || most <= least_of(dtype)) /* one value is left */
        return arena_printf(arena, "((void)$a, %s)", most <= least_of(dtype) ? high : low);
    if (has_least && has_most)
        return arena_printf(arena, "$a < %s ? %s : $a > %s ? %s : $a", low, low, high, high);
    if (has_least)
        return arena_printf(arena, "$a < %s ? %s : $a", low, low);
    return has_most ? arena_printf(arena, "$a > %s ? %s : $a", high, high) : "$a";
}

/* Absent bounds are left out; the upper one wins if they cross. */
static const char *clip_text(struct arena *arena, const struct node *node, const char **needs)
{
    const enum dtype dtype = operand_type(node);
    const double most = isnan(node->attrs.clip.a_max) ? INFINITY : node->attrs.clip.a_max;
    const double low = isnan(node->attrs.clip.a_min) ? -INFINITY : node->attrs.clip.a_min;
    const double least = low > most ? most : low;
    bool math = false;
    const char *from = literal_of_number(arena, dtype, least, &math);
    const char *to = literal_of_number(arena, dtype, most, &math);

    if (!dtype_is_float(dtype))
        return clip_whole_text(arena, dtype, ceil(low) > floor(most) ? floor(most) : ceil(low),
                               floor(most));
    if (least == -INFINITY && most == INFINITY)
        return "$a";
    *needs = math ? "math.h" : "";
    if (most == INFINITY)
        return arena_printf(arena, "$a < %s ? %s : $a", from, from);
    if (least == -INFINITY)
        return arena_printf(arena, "$a > %s ? %s : $a", to, to);
    *needs = "clamp_$d";
    return arena_printf(arena, "clamp_$d($a, %s, %s)", from, to);
}

static const char *gelu_text(const struct node *node, const char **needs)
{
    const bool by_tanh = strcmp(node->attrs.gelu.approximate, "tanh") == 0;

    if (operand_type(node) == DTYPE_F32) {
        *needs = by_tanh ? "gelu_tanh_f32" : "gelu_f32";
        return by_tanh ? "gelu_tanh_f32($a)" : "gelu_f32($a)";
    }
    *needs = "math.h";
    return by_tanh ? "0.5 * $a * (1.0 + tanh(0.7978845608028654 * ($a + 0.044715 * $a * $a * $a)))"
                   : "0.5 * $a * erfc(-0.7071067811865476 * $a)";
}

static const char *isinf_text(const struct node *node, const char **needs)
{
    const bool negative = node->attrs.isinf.detect_negative;
    const bool positive = node->attrs.isinf.detect_positive;

    *needs = "math.h";
    if (negative && positive)
        return "isinf($a) != 0";
    if (!negative && !positive)
        return "((void)$a, 0)";
    return negative ? "$a < 0.0$f && isinf($a)" : "$a > 0.0$f && isinf($a)";
}

/* In double: the parameters may be fractions. */
static const char *whole_shrink_text(struct arena *arena, const struct node *node,
                                     const char **needs)
{
    bool math = false;
    const char *lambd = literal_of_number(arena, DTYPE_F64, node->attrs.alpha_beta.alpha, &math);
    const char *bias = literal_of_number(arena, DTYPE_F64, node->attrs.alpha_beta.beta, &math);

    *needs = "f64_to_i64";
    return arena_printf(arena,
                        "($t)f64_to_i64((double)$a < -(%s) ? (double)$a + %s : "
                        "(double)$a > %s ? (double)$a - %s : 0.0)",
                        lambd, bias, lambd, bias);
}

static const char *special_text(struct arena *arena, const struct node *node, const char **needs)
{
    const unsigned kind = operand_kind(node);

    switch (node->op) {
    case OP_CAST: return cast_text(arena, node, needs);
    case OP_CLIP: return kind & NUMBER ? clip_text(arena, node, needs) : NULL;
    case OP_GELU: return kind & FLOAT ? gelu_text(node, needs) : NULL;
    case OP_ISINF: return kind & FLOAT ? isinf_text(node, needs) : NULL;
    case OP_SHRINK: return kind & WHOLE ? whole_shrink_text(arena, node, needs) : NULL;
    default: return qnn_text(arena, node, needs);
    }
}

const char *scalar_text(struct arena *arena, const struct node *node, const char **needs)
{
    const unsigned kind = operand_kind(node);
    const char *text;

    *needs = "";
    text = special_text(arena, node, needs);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !text; i++)
        if (rows[i].op == node->op && rows[i].kinds & kind) {
            text = rows[i].text;
            *needs = rows[i].needs;
        }
    return text;
}

int scalar_count(const char *text, char letter)
{
    int n = 0;

    for (; *text; text++)
        n += text[0] == '$' && text[1] == letter;
    return n;
}

/* A function, as a cast of a sum or product would look as if that were of the other type. */
static const char *bits_to_integer(struct bind *bind, const struct node *node)
{
    const enum dtype dtype = node->outputs[0]->type.dtype;

    if (dtype != DTYPE_I32)
        return arena_printf(bind->arena, "(%s)", dtype_c_type(dtype));
    bind_helper(bind, "i32_of_bits");
    return "i32_of_bits";
}

/* The text of a placeholder that is not an operand. */
static const char *placeholder(struct bind *bind, const struct node *node, char letter)
{
    const enum dtype dtype = operand_type(node);
    const struct alpha_beta_attrs *attrs = &node->attrs.alpha_beta;

    switch (letter) {
    case 'd': return dtype_name(dtype);
    case 'f': return dtype == DTYPE_F32 ? "f" : "";
    case 'n': return arena_printf(bind->arena, "%zu", dtype_bytes(dtype) * 8);
    case 'p': return bind_literal(bind, dtype, attrs->alpha);
    case 'q': return bind_literal(bind, dtype, attrs->beta);
    case 'i': return bits_to_integer(bind, node);
    case 't': return dtype_c_type(node->outputs[0]->type.dtype);
    default: return dtype_bytes(dtype) == 8 ? "uint64_t" : "uint32_t";
    }
}

static bool ends_with_minus(const struct str *text)
{
    size_t n = text->n;

    while (n > 0 && text->text[n - 1] == ' ')
        n--;
    return n > 0 && text->text[n - 1] == '-';
}

const char *scalar_expand(struct bind *bind, const struct node *node, const char *text,
                          const char *const *operands)
{
    struct str out = { .arena = bind->arena };

    for (; *text; text++) {
        const char *piece;

        if (*text != '$') {
            str_addn(&out, text, 1);
            continue;
        }
        text++;
        piece = *text >= 'a' && *text <= 'c'   ? operands[*text - 'a']
                : *text >= 'A' && *text <= 'B' ? operands[*text - 'A' + 3]
                                               : placeholder(bind, node, *text);
        str_printf(&out, *piece == '-' && ends_with_minus(&out) ? "(%s)" : "%s", piece);
    }
    return str_text(&out);
}

void scalar_needs(struct bind *bind, const struct node *node, const char *needs)
{
    char *words = arena_strdup(bind->arena, scalar_expand(bind, node, needs, NULL)), *rest;

    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (str_ends(word, ".h"))
            bind_include(bind, word);
        else
            bind_helper(bind, word);
    }
}

const char *scalar_needs_without(struct arena *arena, const char *needs, const char *name)
{
    struct str out = { .arena = arena };

    for (size_t n; *needs; needs += n + (needs[n] == ' ')) {
        n = strcspn(needs, " ");
        if (strcmp(arena_strndup(arena, needs, n), name) != 0)
            str_printf(&out, "%s%.*s", out.n ? " " : "", (int)n, needs);
    }
    return str_text(&out);
}

/* Weights of products are dequantised by their kernels, which say what they take. */
static bool is_weight(const struct region *region, const struct node *node, int i)
{
    return node == region->anchor && i == 1 && node->n_inputs == 2 &&
           node->inputs[1]->kind == VALUE_CONSTANT;
}

bool scalar_accepts(struct arena *arena, const struct region *region, const char **why)
{
    for (const struct node *n = region->fn->first; n; n = n->next) {
        const char *needs;

        for (int i = 0; i < n->n_inputs + n->n_outputs; i++) {
            const struct value *value =
                i < n->n_inputs ? n->inputs[i] : n->outputs[i - n->n_inputs];

            if (value && dtype_is_half(value->type.dtype) && !op_takes_half(n->op) &&
                !is_weight(region, n, i)) {
                *why = arena_printf(arena, "%s has no arithmetic in C: it is moved and cast only",
                                    dtype_name(value->type.dtype));
                return false;
            }
        }
        if (n != region->anchor && !scalar_text(arena, n, &needs)) {
            *why = arena_printf(arena, "%s of %s cannot be written in C", op_name(n->op),
                                dtype_name(operand_type(n)));
            return false;
        }
    }
    return true;
}
