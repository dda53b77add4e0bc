/* type_text.c - types as text, in the grammar of docs/design/ir.md: "(1,8) i8 scaled(scale=0.02,
 * zero=3)".
 */
#include "relay_ir/text/words.h"

static void print_dims(struct str *out, const struct type *type, const char *separator)
{
    for (int i = 0; i < type->rank; i++)
        str_printf(out, "%s%lld", i ? separator : "", (long long)type->dim[i]);
}

const char *shape_text(struct arena *arena, const struct type *type)
{
    struct str out = { .arena = arena };

    print_dims(&out, type, "x");
    return type->rank ? str_text(&out) : "scalar";
}

static void print_real(struct str *out, const char *key, double number)
{
    str_add(out, key);
    print_element(out, DTYPE_F64, &number, 0);
}

/* One number, or as many as lie along the axis. */
static void print_vector(struct str *out, const char *key, const struct qtype *quant,
                         enum dtype dtype, const void *data)
{
    str_add(out, key);
    if (quant->axis < 0)
        print_element(out, dtype, data, 0);
    else
        print_elements(out, dtype, data, quant->n);
}

static void print_scaled(struct str *out, const struct qtype *quant)
{
    str_add(out, " scaled(");
    if (quant->axis >= 0)
        str_printf(out, "axis=%d, ", quant->axis);
    print_vector(out, "scale=", quant, DTYPE_F32, quant->scale);
    if (quant->zero)
        print_vector(out, ", zero=", quant, DTYPE_I32, quant->zero);
    str_add(out, ")");
}

void type_print(struct str *out, const struct type *type)
{
    const struct qtype *quant = type->quant;
    const struct minifloat *codec = type_minifloat(type);

    str_add(out, "(");
    print_dims(out, type, ",");
    str_printf(out, ") %s", codec ? codec->name : dtype_name(type->dtype));
    switch (quant ? quant->kind : QTYPE_PLAIN) {
    case QTYPE_PLAIN: break;
    case QTYPE_CALIBRATED:
        print_real(out, " calibrated(min=", quant->min);
        print_real(out, ", max=", quant->max);
        print_real(out, ", threshold=", quant->threshold);
        str_add(out, ")");
        break;
    case QTYPE_SCALED: print_scaled(out, quant); break;
    case QTYPE_BLOCKS:
        str_printf(out, " blocks(%lld, scale=", (long long)quant->block);
        print_elements(out, DTYPE_F32, quant->scale, quant->n);
        if (quant->zero) {
            str_add(out, ", zero=");
            print_elements(out, DTYPE_I32, quant->zero, quant->n);
        }
        str_add(out, ")");
        break;
    }
}

const char *type_text(struct arena *arena, const struct type *type)
{
    struct str out = { .arena = arena };

    type_print(&out, type);
    return str_text(&out);
}
