#include "tests/support/onnx_row.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "relay_ir/interpret.h"
#include "tests/support/expect.h"

static const char *dims_text(struct arena *arena, const struct type *type)
{
    const char *text = "";

    for (int i = 0; i < type->rank; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? "," : "", (long long)type->dim[i]);
    return text;
}

/* The next tensor of a list; NULL data for "_". */
static struct tensor next_tensor(struct arena *arena, struct bulk *bulk, const char **list,
                                 bool *constant)
{
    const size_t n = strcspn(*list, ";");
    const char *text = arena_strndup(arena, *list, n);

    *list += n + ((*list)[n] == ';');
    text += strspn(text, " ");
    *constant = *text == '=';
    return *text == '_' ? (struct tensor){ .data = NULL }
                        : tensor_from_text(bulk, text + *constant);
}

/* As ONNX has them in a file: two of 4 bits in a byte, or four of 2. */
static const void *packed(struct arena *arena, const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    const uint8_t *codes = tensor->data;
    const int bits = dtype_packed_bits(tensor->type.dtype);
    uint8_t *bytes = arena_array(arena, uint8_t, n + 1);

    if (bits >= 8)
        return codes;
    for (int64_t i = 0; i < n; i++)
        bytes[i * bits / 8] |= (uint8_t)((codes[i] & ((1 << bits) - 1)) << i * bits % 8);
    return bytes;
}

static void build_model(struct onnx_row_case *f, const struct onnx_row *row)
{
    struct arena *arena = &f->ctx->perm;
    const char *names = "", *outputs = "", *list = row->inputs;
    bool constant;

    f->builder = builder_new(row->opset);
    builder_domain(f->builder, "com.microsoft", 1);
    for (int i = 0; *list; i++) {
        struct tensor tensor = next_tensor(arena, &f->bulk, &list, &constant);
        const char *name = tensor.data ? arena_printf(arena, "x%d", i) : "_";

        names = arena_printf(arena, "%s%s%s", names, i ? " " : "", name);
        if (constant)
            builder_tensor(f->builder, name, tensor.type.dtype, dims_text(arena, &tensor.type),
                           packed(arena, &tensor));
        else if (tensor.data)
            builder_input(f->builder, name, tensor.type.dtype, dims_text(arena, &tensor.type));
        if (tensor.data && !constant)
            f->inputs[f->n_inputs++] = tensor;
    }
    for (list = row->error ? "f32[1] 0" : row->want; *list; f->n_wanted++) {
        const char *name = arena_printf(arena, "y%d", f->n_wanted);

        f->wanted[f->n_wanted] = next_tensor(arena, &f->bulk, &list, &constant);
        outputs = arena_printf(arena, "%s%s%s", outputs, f->n_wanted ? " " : "", name);
        if (!row->error)
            builder_output(f->builder, name, f->wanted[f->n_wanted].type.dtype,
                           dims_text(arena, &f->wanted[f->n_wanted].type));
    }
    if (row->error)
        builder_output(f->builder, "y0", DTYPE_F32, NULL);
    builder_node(f->builder, row->op, names, outputs);
    builder_attrs(f->builder, "%s", row->attrs);
}

struct module *onnx_row_import(struct onnx_row_case *f)
{
    const struct import_options options = { 0 };
    size_t n;
    const uint8_t *bytes = builder_bytes(f->builder, &n);

    return onnx_import_bytes(f->ctx, bytes, n, NULL, &options);
}

static void check_tensor(const struct onnx_row *row, const struct tensor *wanted,
                         const struct tensor *found)
{
    ck_assert_msg(wanted->type.dtype == found->type.dtype &&
                      type_same_shape(&wanted->type, &found->type),
                  "%s gives another type", row->op);
    if (dtype_kind(wanted->type.dtype) == KIND_MINIFLOAT ||
        dtype_kind(wanted->type.dtype) == KIND_EXPONENT) {
        ck_assert_msg(tensor_equal(wanted, found), "%s {%s} gives other codes", row->op,
                      row->attrs);
        return;
    }
    for (int64_t i = 0; i < type_elements(&wanted->type); i++) {
        const double want = tensor_at(wanted, i), is = tensor_at(found, i);

        if (!dtype_is_float(wanted->type.dtype))
            ck_assert_int_eq(tensor_int_at(found, i), tensor_int_at(wanted, i));
        else
            ck_assert_msg(want == is || (isnan(want) && isnan(is)) ||
                              fabs(want - is) <= 1e-6 * fmax(1, fabs(want)),
                          "%s {%s}: element %d is %.9g, wanted %.9g", row->op, row->attrs, (int)i,
                          is, want);
    }
}

struct onnx_row_case onnx_row_new(const struct onnx_row *row)
{
    struct onnx_row_case f = { .ctx = ctx_new("test.onnx") };

    build_model(&f, row);
    return f;
}

void onnx_row_free(struct onnx_row_case *f, struct module *module)
{
    module_free(module);
    builder_free(f->builder);
    bulk_release(&f->bulk);
    ctx_free(f->ctx);
}

void onnx_row_check(const struct onnx_row *row, struct onnx_row_case *f, struct module *module)
{
    struct tensor outputs[ONNX_ROW_OPERANDS];

    ck_assert_msg(module != NULL, "%s {%s}: %s", row->op, row->attrs, expect_text(f->ctx));
    ck_assert_int_eq(module->main->ret->n_inputs, f->n_wanted);
    ck_assert_msg(interpret(f->ctx, module->main, f->inputs, outputs, &f->bulk, NULL), "%s: %s",
                  row->op, expect_text(f->ctx));
    for (int i = 0; i < f->n_wanted; i++)
        check_tensor(row, &f->wanted[i], &outputs[i]);
}

void onnx_row_test(const struct onnx_row *row)
{
    struct onnx_row_case f = onnx_row_new(row);
    struct module *module = onnx_row_import(&f);

    if (row->error) {
        ck_assert_msg(!module, "%s {%s} is accepted", row->op, row->attrs);
        ck_assert_msg(expect_error(f.ctx, row->error, row->want), "%s: wanted \"%s\", got %s",
                      row->op, row->want, expect_text(f.ctx));
    } else {
        onnx_row_check(row, &f, module);
    }
    onnx_row_free(&f, module);
}
