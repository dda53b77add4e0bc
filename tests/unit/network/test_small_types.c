/* What types say of their numbers: AFP, blocks, calibrated and scaled values, in text and JSON,
 * inferred and verified. test_quantized_numbers calculates with them. */
#include <check.h>
#include <string.h>

#include "relay_ir/json.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/text.h"
#include "relay_ir/verify.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

static struct value *find(const struct module *module, const char *name)
{
    struct value *value = map_get(&module->main->names, name);

    ck_assert_msg(value != NULL, "there is no %s", name);
    return value;
}

/* --- text and JSON ---------------------------------------------------------------------------- */

#define HEAD "module opset 0\n\n"

/* In the printed form. */
static const char *const printed[] = {
    HEAD "fn main(%x: (1,64,56,56) f32 calibrated(min=-1.5, max=6, threshold=5.9)) -> (%y) {\n"
         "  %y = nn.relu(%x) : (1,64,56,56) f32 calibrated(min=0, max=6, threshold=5.9)\n"
         "}\n",
    HEAD "fn main(%x: (2) f64 calibrated(min=-0.1, max=0.30000000000000004, threshold=0)) -> "
         "(%x) {\n}\n",
    HEAD "fn main(%x: (1,3) i8 scaled(scale=0.02, zero=3)) -> (%y) {\n"
         "  %y = copy(%x) : (1,3) i8 scaled(scale=0.02, zero=3)\n"
         "}\n",
    HEAD "fn main(%x: (2,3) f8e4m3 scaled(axis=0, scale=[0.5, 0.1]), %z: (2,3) u4 scaled(axis=1, "
         "scale=[1, ...], zero=[1, 2, 15])) -> (%x) {\n}\n",
    HEAD "fn main(%x: (3) afp<3,2,7>, %s: (3) afp<7,0,63> scaled(scale=2)) -> (%y) {\n"
         "  const @w : (3) afp<3,2,7> = [0x01, 0x1f, 0x3f]\n"
         "  %y = concatenate(%x, @w) {axis=0} : (6) afp<3,2,7>\n"
         "}\n",
    HEAD
    "fn main(%x: (1,40) f32) -> (%y) {\n"
    "  const @w : (2,40) f4e2m1 blocks(32, scale=[0.5, 1, 2, 0.25]) = [0x07, ...]\n"
    "  const @v : (2,3) i4 blocks(2, scale=[0.7, ...], zero=[1, -3, 0, 2]) = [-8, 7, 0, 1, 2, 3]\n"
    "  %y = nn.dense(%x, @w) {out_dtype=f32} : (1,2) f32\n"
    "}\n",
};

static const char *text_of(const struct module *module)
{
    struct str out = { .arena = &ctx->perm };

    module_print(module, &out);
    return str_text(&out);
}

START_TEST(types_are_printed_as_they_were_read)
{
    struct module *module = module_parse(ctx, printed[_i], NULL, false);

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_msg(module_verify(module, "parsing"), "%s", expect_text(ctx));
    ck_assert_str_eq(text_of(module), printed[_i]);
    module_free(module);
}
END_TEST

static struct module *through_json(struct module *module)
{
    struct temp_dir dir = temp_dir_new();
    struct output_set set = { .ctx = ctx };
    struct module *again;

    ck_assert(module_write_json(module, &set, temp_path(&dir, "a.json"), temp_path(&dir, "a.bin")));
    ck_assert_msg(output_commit(&set), "%s", expect_text(ctx));
    again = module_read_json(ctx, temp_path(&dir, "a.json"));
    ck_assert_msg(again != NULL, "%s", expect_text(ctx));
    temp_dir_free(&dir);
    return again;
}

START_TEST(types_come_back_from_json)
{
    struct module *module = module_parse(ctx, printed[_i], NULL, false), *again;

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    again = through_json(module);
    ck_assert_msg(module_verify(again, "reading"), "%s", expect_text(ctx));
    ck_assert_str_eq(text_of(again), printed[_i]);
    module_free(again);
    module_free(module);
}
END_TEST

/* More than 16 scales stand there by checksum; they come from the module that was printed. */
START_TEST(many_scales_are_found_by_checksum)
{
    struct module *module = module_new(ctx), *again;
    struct qtype *quant = arena_new(&ctx->perm, struct qtype);
    float *scale = arena_array(&ctx->perm, float, 20);
    int32_t *zero = arena_array(&ctx->perm, int32_t, 20);
    struct type type = type_make(DTYPE_I8, 2, (int64_t[]){ 3, 20 });
    const char *text;

    for (int i = 0; i < 20; i++) {
        scale[i] = 1.0F / (float)(i + 3);
        zero[i] = i - 10;
    }
    *quant = (struct qtype){ QTYPE_SCALED, .axis = 1, .n = 20, .scale = scale, .zero = zero };
    type.quant = quant;
    result_add(module->main, param_new(module->main, "x", &type), "x");
    text = text_of(module);
    ck_assert_ptr_nonnull(strstr(text, "(3,20) i8 scaled(axis=1, scale=crc32:"));
    again = module_parse(ctx, text, module, false);
    ck_assert_msg(again != NULL, "%s", expect_text(ctx));
    ck_assert_str_eq(text_of(again), text);
    ck_assert(type_equal(&again->main->params[0]->type, &type));
    module_free(again);
    again = module_parse(ctx, text, NULL, true); /* has no effect then */
    ck_assert(again && !again->main->params[0]->type.quant);
    module_free(again);
    ck_assert_ptr_null(module_parse(ctx, text, NULL, false));
    ck_assert(expect_error(ctx, DIAG_IR_TEXT, "no 20 scales with this checksum are at hand"));
    module_free(module);
}
END_TEST

/* The type of a parameter, or of a constant of elements 0. */
static const struct {
    bool constant;
    const char *type, *error;
} wrong_types[] = {
    { false, "(2) afp", "afp without bits" },
    { false, "(2) afp<0,3,7>", "expected an element type such as afp<4,3,7>" },
    { false, "(2) afp<9,3,7>", "expected an element type such as afp<4,3,7>" },
    { false, "(2) afp<4,3", "expected an element type such as afp<4,3,7>" },
    { false, "(2) afp<4,3,99999999999999>", "expected an element type such as afp<4,3,7>" },
    { false, "(2) f32<4,3,7>", "expected an element type" },
    { false, "(2) i8 calibrated(min=0, max=1, threshold=1)", "i8 is calibrated" },
    { false, "(2) f32 calibrated(min=2, max=1, threshold=1)", "from 2 to 1, which is not a range" },
    { false, "(2) f32 calibrated(min=nan, max=1, threshold=1)", "which is not a range" },
    { false, "(2) f32 calibrated(min=0, max=1, threshold=-1)", "the threshold -1" },
    { false, "(2) f32 calibrated(min=0, max=1, threshold=inf)", "the threshold inf" },
    { false, "(2) f32 calibrated(max=1)", "expected 'min'" },
    { false, "(2) f32 calibrated", "expected '('" },
    { false, "(2) f32 scaled(scale=1)", "f32 is scaled" },
    { false, "(2) i64 scaled(scale=1)", "i64 is scaled" },
    { false, "(2) i8 scaled(scale=0)", "scale 0 is 0, expected a positive number" },
    { false, "(2) i8 scaled(scale=-1)", "scale 0 is -1" },
    { false, "(2) i8 scaled(scale=inf)", "scale 0 is inf" },
    { false, "(2) i8 scaled(scale=nan)", "scale 0 is nan" },
    { false, "(2) i8 scaled(scale=1, zero=128)", "zero point 128 is not a number of type i8" },
    { false, "(2) u8 scaled(scale=1, zero=-1)", "zero point -1 is not a number of type u8" },
    { false, "(2) i4 scaled(scale=1, zero=8)", "zero point 8 is not a number of type i4" },
    { false, "(2) u4 scaled(scale=1, zero=16)", "zero point 16 is not a number of type u4" },
    { false, "(2) f8e4m3 scaled(scale=1, zero=0)", "f8e4m3 has a zero point" },
    { false, "(2) i8 scaled(axis=1, scale=[1])", "axis 1 is out of range for shape 2" },
    { false, "(2) i8 scaled(axis=0, scale=[1])", "expected ','" },
    { false, "(2) i8 scaled(axis=0, scale=[1, 2, 3])", "expected ']'" },
    { false, "(2) i8 scaled(axis=0, scale=1)", "expected '['" },
    { false, "(2) i8 scaled(scale=[1])", "expected an element of type f32" },
    { false, "(2) i8 scaled(axis=0, scale=[1, ...], zero=[0, 1, 2])", "expected ']'" },
    { false, "(2) i8 scaled(zero=1)", "expected 'scale'" },
    { false, "(68719476736) i8 scaled(axis=0, scale=[1, ...])", "too many for the text" },
    { false, "(2) f4e2m1 blocks(32, scale=[1, ...])", "only constants have block scales" },
    { true, "(2) f4e2m1 blocks(0, scale=[])", "blocks of 0 elements" },
    { true, "(2) f4e2m1 blocks(2, scale=[-3, ...])", "scale 0 is -3, expected a positive" },
    { true, "(2) f4e2m1 blocks(2, scale=[1, ...], zero=[0, ...])", "f4e2m1 has a zero point" },
    { true, "(2) i4 blocks(2, scale=[1, ...], zero=[8, ...])", "zero point 8 is not a number of" },
    { true, "(2) f32 blocks(2, scale=[1, ...])", "f32 has block scales" },
    { true, "(2) f4e2m1 blocks(99999999999999, scale=[1, ...])", "the number is too big" },
    { true, "(2) f4e2m1 blocks(2, scale=crc32:00000000)", "no 2 scales with this checksum" },
    { true, "(2) f4e2m1 blocks(2, scale=crc32:0)", "a checksum of 8 hexadecimal digits" },
};

START_TEST(what_cannot_be_known_of_numbers_is_refused)
{
    const char *format = wrong_types[_i].constant
                             ? "fn main() -> (@x) {\n  const @x : %s = [0, ...]\n}\n"
                             : "fn main(%%x: %s) -> (%%x) {\n}\n";
    struct str text = { .arena = &ctx->perm };

    str_add(&text,
            wrong_types[_i].constant ? "fn main() -> (@x) {\n  const @x : " : "fn main(%x: ");
    str_add(&text, wrong_types[_i].type);
    str_add(&text, strstr(format, "%s") + 2);
    ck_assert_ptr_null(module_parse(ctx, str_text(&text), NULL, false));
    ck_assert_msg(expect_error(ctx, DIAG_IR_TEXT, wrong_types[_i].error), "%s", expect_text(ctx));
}
END_TEST

/* --- inference -------------------------------------------------------------------------------- */

#define QUANTIZED                                                                                  \
    "fn main(%x: (1,4,2,2) f32) -> (%y) {\n"                                                       \
    "  const @s : () f32 = [0.25]\n"                                                               \
    "  const @z : () i8 = [3]\n"                                                                   \
    "  const @ss : (4) f32 = [0.5, 0.25, 0.125, 2]\n"                                              \
    "  const @zs : (4) u8 = [0, 1, 2, 255]\n"                                                      \
    "  const @f : () f8e4m3 = [0x00]\n"                                                            \
    "  const @i : (2) i64 = [1, 0]\n"                                                              \
    "  const @t : (1,1) i64 = [0]\n"                                                               \
    "  %q = qnn.quantize(%x, @s, @z) {axis=0, saturate=true}\n"                                    \
    "  %qs = qnn.quantize(%x, @ss, @zs) {axis=1, saturate=true}\n"                                 \
    "  %qf = qnn.quantize(%x, @s, @f) {axis=0, saturate=true}\n"

#define ONE "scaled(scale=0.25, zero=3)"
#define FOUR(axis) "scaled(axis=" axis ", scale=[0.5, 0.25, 0.125, 2], zero=[0, 1, 2, 255])"
#define RESIZE(size, mode)                                                                         \
    "{size=[1,4," size "], scales=[], roi=[], method=\"nearest_neighbor\", "                       \
    "coordinate_transformation_mode=\"" mode "\", rounding_method=\"floor\", cubic_alpha=-0.75, "  \
    "exclude_outside=false, antialias=false, extrapolation_value=0}"
#define POOL2                                                                                      \
    "{pool_size=[2,2], strides=[1,1], padding=[0,0,0,0], dilation=[1,1], ceil_mode=false, "        \
    "count_include_pad=false, p=0, storage_order=0, layout=\"NCHW\"}"

/* The lines that make %y, and what follows the element type of %y. */
static const struct {
    const char *lines, *type;
} inferred[] = {
    { "%y = copy(%q)", "(1,4,2,2) i8 " ONE },
    { "%y = copy(%qs)", "(1,4,2,2) u8 " FOUR("1") },
    { "%y = copy(%qf)", "(1,4,2,2) f8e4m3 scaled(scale=0.25)" },
    { "%y = nn.relu(%q)", "(1,4,2,2) i8 " ONE },
    { "%y = clip(%q) {a_min=0, a_max=6}", "(1,4,2,2) i8 " ONE },
    { "%y = negative(%q)", "(1,4,2,2) i8" },
    { "%y = add(%q, %q)", "(1,4,2,2) i8" },
    { "%y = cast(%q) {dtype=i32, saturate=true}", "(1,4,2,2) i32" },
    { "%y = qnn.dequantize(%q, @s, @z) {axis=0}", "(1,4,2,2) f32" },
    { "%y = reshape(%q) {shape=[16]}", "(16) i8 " ONE },
    { "%y = reshape(%qs) {shape=[16]}", "(16) u8" },
    { "%y = reshape(%qs) {shape=[4,4]}", "(4,4) u8 " FOUR("0") },
    { "%y = squeeze(%qs) {axes=[0]}", "(4,2,2) u8 " FOUR("0") },
    { "%y = expand_dims(%qs) {axes=[0,2]}", "(1,1,1,4,2,2) u8 " FOUR("3") },
    { "%y = transpose(%qs) {axes=[0,2,3,1]}", "(1,2,2,4) u8 " FOUR("3") },
    { "%y = transpose(%q) {axes=[0,2,3,1]}", "(1,2,2,4) i8 " ONE },
    { "%y = nn.max_pool2d(%qs) " POOL2, "(1,4,1,1) u8 " FOUR("1") },
    { "%y = nn.max_pool2d(%qf) " POOL2, "(1,4,1,1) f8e4m3 scaled(scale=0.25)" },
    { "%y = strided_slice(%qs) {begin=[0,0,1,0], strides=[1,1,1,1], size=[1,4,1,2]}",
      "(1,4,1,2) u8 " FOUR("1") },
    { "%y = strided_slice(%qs) {begin=[0,3,0,0], strides=[1,-1,1,1], size=[1,4,2,2]}",
      "(1,4,2,2) u8" },
    { "%y = strided_slice(%q) {begin=[0,3,0,0], strides=[1,-1,1,1], size=[1,4,2,2]}",
      "(1,4,2,2) i8 " ONE },
    { "%y = concatenate(%q, %q) {axis=1}", "(1,8,2,2) i8 " ONE },
    { "%y = concatenate(%qs, %qs) {axis=2}", "(1,4,4,2) u8 " FOUR("1") },
    { "%y = concatenate(%qs, %qs) {axis=1}", "(1,8,2,2) u8" },
    { "%n = negative(%q)\n  %y = concatenate(%q, %n) {axis=1}", "(1,8,2,2) i8" },
    { "%y = take(%q, @i) {axis=1}", "(1,2,2,2) i8 " ONE },
    { "%y = take(%qs, @i) {axis=2}", "(1,4,2,2) u8" },
    { "%y = nn.depth_to_space(%q) {block_size=[2,2], mode=\"DCR\"}", "(1,1,4,4) i8 " ONE },
    { "%y = tile(%qs) {shape=[2,1,1,1]}", "(2,4,2,2) u8 " FOUR("1") },
    { "%y = max(%q) {axis=[1], keepdims=false}", "(1,2,2) i8 " ONE },
    { "%y = image.resize(%qs) " RESIZE("4,4", "asymmetric"), "(1,4,4,4) u8 " FOUR("1") },
    { "%y = image.resize(%q) " RESIZE("3,5", "half_pixel"), "(1,4,3,5) i8 " ONE },
    { "%y = image.resize(%q) " RESIZE("4,4", "tf_crop_and_resize"), "(1,4,4,4) i8" },
    { "%r = nn.relu(%q)\n  %y = maximum(%q, %r)", "(1,4,2,2) i8 " ONE },
    { "%n = negative(%q)\n  %y = minimum(%q, %n)", "(1,4,2,2) i8" },
    { "%b = greater(%q, %q)\n  %r = nn.relu(%q)\n  %y = where(%b, %r, %q)", "(1,4,2,2) i8 " ONE },
    { "%b = greater(%q, %q)\n  %n = negative(%q)\n  %y = where(%b, %q, %n)", "(1,4,2,2) i8" },
    { "%r = nn.relu(%q)\n  %y = scatter_nd(%q, @t, %r) {reduction=\"none\"}", "(1,4,2,2) i8 " ONE },
    { "%r = nn.relu(%q)\n  %y = scatter_nd(%q, @t, %r) {reduction=\"max\"}", "(1,4,2,2) i8 " ONE },
    { "%r = nn.relu(%q)\n  %y = scatter_nd(%q, @t, %r) {reduction=\"add\"}", "(1,4,2,2) i8" },
    { "%n = negative(%q)\n  %y = scatter_nd(%q, @t, %n) {reduction=\"none\"}", "(1,4,2,2) i8" },
    { "%y = qnn.mul(%q, %q, @s, @z, @s, @z, @s, @z)", "(1,4,2,2) i8 " ONE },
    { "%y = qnn.add(%q, %q, @s, @z, @s, @z, @s, @z)", "(1,4,2,2) i8 " ONE },
};

START_TEST(inference_says_what_codes_mean)
{
    const char *text = arena_printf(&ctx->perm, "%s  %s\n}\n", QUANTIZED, inferred[_i].lines);
    struct module *module = module_parse(ctx, text, NULL, false), *again;

    ck_assert_msg(module != NULL, "%s\n%s", text, expect_text(ctx));
    ck_assert_str_eq(type_text(&ctx->perm, &find(module, "y")->type), inferred[_i].type);
    ck_assert_msg(module_verify(module, "parsing"), "%s", expect_text(ctx));
    again = module_parse(ctx, text_of(module), NULL, false);
    ck_assert_msg(again != NULL, "%s", expect_text(ctx));
    ck_assert_str_eq(text_of(again), text_of(module));
    module_free(again);
    again = through_json(module);
    ck_assert_str_eq(text_of(again), text_of(module));
    module_free(again);
    module_free(module);
}
END_TEST

/* A scale that the model computes is not known. */
START_TEST(a_scale_that_is_no_constant_says_nothing)
{
    struct module *module = module_parse(ctx,
                                         "fn main(%x: (2) f32, %s: () f32) -> (%y) {\n"
                                         "  const @z : () i8 = [3]\n"
                                         "  %y = qnn.quantize(%x, %s, @z) {axis=0, "
                                         "saturate=true}\n}\n",
                                         NULL, false);

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_ptr_null(find(module, "y")->type.quant);
    module_free(module);
}
END_TEST

/* What stands in the text must be what inference gives. */
START_TEST(a_type_that_says_otherwise_is_refused)
{
    ck_assert_ptr_null(module_parse(ctx,
                                    QUANTIZED "  %y = copy(%q) : (1,4,2,2) i8 "
                                              "scaled(scale=0.5, zero=3)\n}\n",
                                    NULL, false));
    ck_assert_msg(expect_error(ctx, DIAG_IR_TEXT,
                               "the text says (1,4,2,2) i8 scaled(scale=0.5, zero=3), inference "
                               "gives (1,4,2,2) i8 scaled(scale=0.25, zero=3)"),
                  "%s", expect_text(ctx));
}
END_TEST

/* Readers are inferred again, however many follow each other. */
START_TEST(what_replaces_a_value_tells_its_readers)
{
    struct str text = { .arena = &ctx->perm };
    struct module *module;

    str_add(&text, "fn main(%x: (4) i8, %a: (4) i8 scaled(scale=0.5)) -> (%y) {\n"
                   "  %c0 = copy(%x)\n");
    for (int i = 1; i < 5000; i++)
        str_printf(&text, "  %%c%d = copy(%%c%d)\n", i, i - 1);
    str_add(&text, "  %y = concatenate(%c4999, %a) {axis=0}\n}\n");
    module = module_parse(ctx, str_text(&text), NULL, false);
    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_ptr_null(find(module, "y")->type.quant);
    value_replace(find(module, "x"), find(module, "a"));
    ck_assert_str_eq(type_text(&ctx->perm, &find(module, "y")->type), "(8) i8 scaled(scale=0.5)");
    ck_assert_msg(module_verify(module, "replacing"), "%s", expect_text(ctx));
    module_free(module);
}
END_TEST

/* What was measured of a value stays with its numbers when a rule finds them elsewhere. */
START_TEST(rewrites_keep_calibrations)
{
    struct module *module =
        module_parse(ctx,
                     "fn main(%x: (2) f32) -> (%y) {\n"
                     "  %n = negative(%x) : (2) f32\n"
                     "  %c = copy(%n) : (2) f32 calibrated(min=-1, max=2, threshold=2)\n"
                     "  %y = exp(%c) : (2) f32\n}\n",
                     NULL, false);
    const struct node *exp;

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_msg(pipeline_run_one(module, "canonicalize"), "%s", expect_text(ctx));
    exp = find(module, "y")->def;
    ck_assert_int_eq(exp->inputs[0]->def->op, OP_NEGATIVE);
    ck_assert_str_eq(type_text(&ctx->perm, &exp->inputs[0]->type),
                     "(2) f32 calibrated(min=-1, max=2, threshold=2)");
    ck_assert_msg(module_verify(module, "canonicalize"), "%s", expect_text(ctx));
    module_free(module);
}
END_TEST

START_TEST(a_broken_type_is_found_by_the_verifier)
{
    struct module *module = module_parse(ctx, printed[2], NULL, false);
    struct qtype broken;

    ck_assert_ptr_nonnull(module);
    broken = *module->main->params[0]->type.quant;
    broken.scale = (const float[]){ -1 };
    module->main->params[0]->type.quant = &broken;
    ck_assert(!module_verify(module, "a test"));
    ck_assert_msg(expect_error(ctx, DIAG_INTERNAL, "value \"x\": scale 0 is -1"), "%s",
                  expect_text(ctx));
    module_free(module);
}
END_TEST

START_TEST(a_code_of_more_bits_than_its_type_is_found_by_the_verifier)
{
    static const struct {
        enum dtype dtype;
        uint8_t good, bad;
    } rows[] = { { DTYPE_I4, 0xf8, 0x08 },     { DTYPE_U4, 0x0f, 0x10 },
                 { DTYPE_I2, 0xfe, 0x02 },     { DTYPE_U2, 0x03, 0x04 },
                 { DTYPE_F4E2M1, 0x0f, 0x80 }, { DTYPE_F6E2M3, 0x3f, 0x40 } };
    struct module *module = module_new(ctx);
    const struct type type = type_make(rows[_i].dtype, 1, (int64_t[]){ 2 });
    uint8_t *codes = constant_alloc(module->main, &type);

    codes[1] = rows[_i].good;
    result_add(module->main, constant_new(module->main, "w", &type, codes), "w");
    ck_assert_msg(module_verify(module, "a test"), "%s", expect_text(ctx));
    codes[1] = rows[_i].bad;
    ck_assert(!module_verify(module, "a test"));
    ck_assert_msg(expect_error(ctx, DIAG_INTERNAL, "constant \"w\": element 1, 0x"), "%s",
                  expect_text(ctx));
    module_free(module);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("small types");
    TCase *tcase = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, types_are_printed_as_they_were_read, 0, N_ROWS(printed));
    tcase_add_loop_test(tcase, types_come_back_from_json, 0, N_ROWS(printed));
    tcase_add_test(tcase, many_scales_are_found_by_checksum);
    tcase_add_loop_test(tcase, what_cannot_be_known_of_numbers_is_refused, 0, N_ROWS(wrong_types));
    tcase_add_loop_test(tcase, inference_says_what_codes_mean, 0, N_ROWS(inferred));
    tcase_add_test(tcase, a_scale_that_is_no_constant_says_nothing);
    tcase_add_test(tcase, a_type_that_says_otherwise_is_refused);
    tcase_add_test(tcase, what_replaces_a_value_tells_its_readers);
    tcase_add_test(tcase, rewrites_keep_calibrations);
    tcase_add_test(tcase, a_broken_type_is_found_by_the_verifier);
    tcase_add_loop_test(tcase, a_code_of_more_bits_than_its_type_is_found_by_the_verifier, 0, 6);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
