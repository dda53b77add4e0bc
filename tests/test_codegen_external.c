/* Regions of other targets: the C that a toy target's templates make, compiled and run. */
#include <check.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"
#include "tests/support/toy_target.h"

#define CONV                                                                                       \
    " {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "         \
    "kernel_layout=\"OIHW\"}"

static struct ctx *ctx;
static struct temp_dir dir;

static void set_up(void)
{
    ctx = ctx_new("net.onnx");
    dir = temp_dir_new();
}

static void tear_down(void)
{
    temp_dir_free(&dir);
    ctx_free(ctx);
}

/* --- the toy target ----------------------------------------------------------------------------
 */

static const char toy_json[] =
    "{ \"name\": \"toy\", \"description\": \"plain C\", \"format\": \"c\",\n"
    "  \"composites\": [\n"
    "    { \"name\": \"conv2d_act\",\n"
    "      \"pattern\": \"conv2d(x, w:const) -> bias_add(_, b:const)? -> relu?\",\n"
    "      \"let\": { \"patch\": \"w.dim[1] * w.dim[2] * w.dim[3]\" },\n"
    "      \"scratch\": \"patch * 4\", \"template\": \"conv2d.c.tmpl\" },\n"
    "    { \"name\": \"dense\", \"pattern\": \"dense(x, w:const) -> bias_add(_, b:const)?\",\n"
    "      \"template\": \"dense.c.tmpl\" },\n"
    "    { \"name\": \"clip\", \"pattern\": \"clip(x)\", \"template\": \"clip.c.tmpl\" },\n"
    "    { \"name\": \"scale\", \"pattern\": \"multiply(x, s:const)\",\n"
    "      \"template\": \"scale.c.tmpl\" },\n"
    "    { \"name\": \"split\", \"pattern\": \"split(x)\", \"template\": \"split.c.tmpl\" },\n"
    "    { \"name\": \"add\", \"pattern\": \"add(x, other)\", \"template\": \"add.c.tmpl\" } ],\n"
    "  \"prologue\": \"prologue.c.tmpl\", \"headers\": [\"toy_max.h\"] }\n";

static const struct toy_file toy_files[] = {
    { "conv2d.c.tmpl",
      "enum {\n"
      "    IN_C = ${x.dim1}, IN_H = ${x.dim2}, IN_W = ${x.dim3}, OUT_C = ${out.dim1},\n"
      "    OUT_H = ${out.dim2}, OUT_W = ${out.dim3}, K_H = ${w.dim2}, K_W = ${w.dim3},\n"
      "    STRIDE_H = ${conv2d.strides0}, STRIDE_W = ${conv2d.strides1}, PATCH = ${patch}\n"
      "};\n"
      "${x.ctype} *const column = ${scratch};\n\n"
      "for (int oh = 0; oh < OUT_H; oh++)\n"
      "    for (int ow = 0; ow < OUT_W; ow++) {\n"
      "        for (int ic = 0, at = 0; ic < IN_C; ic++)\n"
      "            for (int kh = 0; kh < K_H; kh++)\n"
      "                for (int kw = 0; kw < K_W; kw++, at++)\n"
      "                    column[at] = ${x}[(ic * IN_H + oh * STRIDE_H + kh) * IN_W + "
      "ow * STRIDE_W + kw];\n"
      "        for (int oc = 0; oc < OUT_C; oc++) {\n"
      "            //#if b\n"
      "            float acc = ${b}[oc];\n"
      "            //#end\n"
      "            //#if !b\n"
      "            float acc = 0.0f;\n"
      "            //#end\n\n"
      "            for (int i = 0; i < PATCH; i++)\n"
      "                acc += column[i] * ${w}[oc * PATCH + i];\n"
      "            //#if relu\n"
      "            acc = toy_max(acc, 0.0f);\n"
      "            //#end\n"
      "            ${out}[(oc * OUT_H + oh) * OUT_W + ow] = acc;\n"
      "        }\n"
      "    }\n" },
    { "dense.c.tmpl", "for (int r = 0; r < ${x.dim0}; r++)\n"
                      "    for (int o = 0; o < ${w.dim0}; o++) {\n"
                      "        float acc = 0.0f;\n\n"
                      "        for (int i = 0; i < ${w.dim1}; i++)\n"
                      "            acc += ${x}[r * ${w.dim1} + i] * ${w}[o * ${w.dim1} + i];\n"
                      "        //#if b\n"
                      "        acc += ${b}[o];\n"
                      "        //#end\n"
                      "        ${out}[r * ${w.dim0} + o] = acc;\n"
                      "    }\n" },
    { "clip.c.tmpl",
      "for (int i = 0; i < ${x.elements}; i++) {\n"
      "    const float least = (float)${clip.a_min}, most = (float)${clip.a_max};\n\n"
      "    ${out}[i] = ${x}[i] < least ? least : ${x}[i] > most ? most : ${x}[i];\n"
      "}\n" },
    { "scale.c.tmpl", "for (int i = 0; i < ${x.elements}; i++)\n"
                      "    //#if s.value\n"
                      "    ${out}[i] = ${x}[i] * ${s.value};\n"
                      "    //#end\n"
                      "    //#if !s.value\n"
                      "    ${out}[i] = ${x}[i] * ${s}[i];\n"
                      "    //#end\n" },
    { "split.c.tmpl", "memcpy(${out}, ${x}, ${out.bytes});\n"
                      "memcpy(${out1}, ${x} + ${out.elements}, ${out1.bytes});\n" },
    { "add.c.tmpl", "/* ${x.shape} of rank ${x.rank}, ${x.bytes} bytes of ${x.dtype} */\n"
                    "for (int i = 0; i < ${out.elements}; i++)\n"
                    "    ${out}[i] = ${x}[i] + ${other}[i];\n" },
    { "prologue.c.tmpl", "#include <string.h>\n\n#include \"toy_max.h\"\n" },
    { "toy_max.h", "#ifndef TOY_MAX_H\n#define TOY_MAX_H\n\n"
                   "static inline float toy_max(float a, float b)\n{\n"
                   "    return a > b ? a : b;\n}\n\n#endif\n" },
    { NULL, NULL }
};

static struct targets *toy(void)
{
    struct target *target = toy_target(ctx, toy_json, toy_files);

    return toy_targets(ctx, 1, &target);
}

/* --- graphs ------------------------------------------------------------------------------------
 */

#define COMPOSITE(name, composite, params, result)                                                 \
    "fn " name "(" params ") -> (" result ") compiler \"toy\" composite \"toy." composite "\" {\n"

/* Two regions with one of ours between them; the first has three composites. */
static const char net_text[] =
    "fn main(%x: (1,2,6,6) f32, %skip: (1,3,2,2) f32) -> (%y, %b) {\n"
    "  %a, %b = call toy_conv1(%x, %skip) : (1,3,2,2) f32, (1,3,4,4) f32  from Conv \"conv1\" #0 + "
    "Conv \"conv2\" #1\n"
    "  %m = call ours(%a) : (1,3,2,2) f32  from Exp \"exp\" #2\n"
    "  %v = reshape(%m) {shape=[2,6]} : (2,6) f32\n"
    "  %y = call toy_fc(%v) : (2,4) f32  from Gemm \"fc\" #3\n"
    "}\n"
    "fn toy_conv1(%x: (1,2,6,6) f32, %skip: (1,3,2,2) f32) -> (%a, %b) compiler \"toy\" "
    "global_symbol \"toy_conv1\" {\n"
    "  %b = call k1(%x) : (1,3,4,4) f32  from Conv \"conv1\" #0\n"
    "  %c = call k2(%b) : (1,3,2,2) f32  from Conv \"conv2\" #1\n"
    "  %a = call k3(%c, %skip) : (1,3,2,2) f32\n"
    "}\n" COMPOSITE(
        "k1", "conv2d_act", "%x: (1,2,6,6) f32",
        "%r") "  const @w : (3,2,3,3) f32 = crc32:00000000\n"
              "  const @bias : (3) f32 = crc32:00000001\n"
              "  %c = nn.conv2d(%x, @w)" CONV " : (1,3,4,4) f32\n"
              "  %b = nn.bias_add(%c, @bias) {axis=1} : (1,3,4,4) f32\n"
              "  %r = nn.relu(%b) : (1,3,4,4) f32\n"
              "}\n" COMPOSITE(
                  "k2", "conv2d_act", "%x: (1,3,4,4) f32",
                  "%c") "  const @w2 : (3,3,3,3) f32 = crc32:00000002\n"
                        "  %c = nn.conv2d(%x, @w2)" CONV " : (1,3,2,2) f32\n"
                        "}\n" COMPOSITE(
                            "k3", "add", "%x: (1,3,2,2) f32, %o: (1,3,2,2) f32",
                            "%s") "  %s = add(%x, %o) : (1,3,2,2) f32\n"
                                  "}\n"
                                  "fn ours(%x: (1,3,2,2) f32) -> (%e) compiler \"c\" composite "
                                  "\"c.exp\" {\n"
                                  "  const @half : (3,1,1) f32 = [0.5, 0.25, 1]\n"
                                  "  %h = multiply(%x, @half) : (1,3,2,2) f32\n"
                                  "  %e = exp(%h) : (1,3,2,2) f32\n"
                                  "}\n"
                                  "fn toy_fc(%v: (2,6) f32) -> (%y) compiler \"toy\" global_symbol "
                                  "\"toy_fc\" {\n"
                                  "  %y = call k4(%v) : (2,4) f32  from Gemm \"fc\" #3\n"
                                  "}\n" COMPOSITE(
                                      "k4", "dense", "%x: (2,6) f32",
                                      "%d") "  const @fc.weight : (4,6) f32 = crc32:00000003\n"
                                            "  %d = nn.dense(%x, @fc.weight) : (2,4) f32\n"
                                            "}\n";

static void check(const char *text, const struct targets *targets, enum weights_form weights,
                  bool step)
{
    struct module *module = graph_parse(ctx, text, 7);

    generated_check_module(
        module,
        &(struct generated_case){
            .text = text, .tolerance = 1e-5, .targets = targets, .weights = weights, .step = step },
        NULL);
    module_free(module);
}

/* Writes the files of "net" and returns what was made; false is a failed test unless `fails`. */
static struct codegen_result generate(const char *text, const struct targets *targets,
                                      enum weights_form weights, bool fails)
{
    struct module *module = graph_parse(ctx, text, 7);
    const struct codegen_options options = { .targets = targets,
                                             .name = "net",
                                             .dir = dir.path,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .weights = weights,
                                             .step = true };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;
    const bool ok = codegen_c(module, &options, &set, &result);

    ck_assert_msg(ok != fails, "%s", expect_text(ctx));
    if (ok)
        ck_assert_msg(output_commit(&set), "%s", expect_text(ctx));
    else
        output_abort(&set);
    module_free(module);
    return result;
}

static const char *file_text(const char *name)
{
    struct mapping file;
    const char *text;

    ck_assert_msg(file_map(ctx, temp_path(&dir, name), &file), "%s", expect_text(ctx));
    text = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    return text;
}

static void has(const char *file, const char *part)
{
    ck_assert_msg(strstr(file_text(file), part) != NULL, "%s lacks:\n%s\nit is:\n%s", file, part,
                  file_text(file));
}

static void lacks(const char *file, const char *part)
{
    ck_assert_msg(strstr(file_text(file), part) == NULL, "%s has: %s", file, part);
}

/* --- format c ----------------------------------------------------------------------------------
 */

START_TEST(regions_of_templates_give_the_results_of_the_reference)
{
    check(net_text, toy(), (enum weights_form)_i, _i == WEIGHTS_AUTO);
}
END_TEST

START_TEST(the_files_say_what_runs_where)
{
    const struct codegen_result result = generate(net_text, toy(), WEIGHTS_INLINE, false);

    ck_assert_int_eq(result.n_regions, 3);
    ck_assert_str_eq(result.regions[0].compiler, "toy");
    ck_assert_ptr_null(result.regions[1].compiler);
    ck_assert_int_eq(result.n_files, 6);
    has("net.h", "    NET_REGION_FAILED = 4\n");
    has("net.c", "#include \"net_toy.h\"\n");
    has("net.c", "    if (net_toy_conv1(x, skip, a, b, base + ");
    has("net.c", ") != 0)\n            return NET_REGION_FAILED;\n");
    has("net.c", " *      0  net_toy_conv1  conv1 + conv2  toy, 3 composites");
    has("net.c", "toy.dense");
    has("net.c", "scratch of net_toy_conv1");
    has("net_toy.h", "int net_toy_conv1(const float *input0, const float *input1, float *output0, "
                     "float *output1,\n                  void *scratch);\n");
    has("net_toy.h", "int net_toy_fc(const float *input0, float *output0);\n");
    has("net_toy.h", "/* conv1 (Conv) + conv2 (Conv)\n * input0 f32 [1,2,6,6], input1");
    has("net_toy.h", " * toy.conv2d_act: conv1\n * toy.conv2d_act: conv2\n");
    has("net_toy.c", "    /* toy.conv2d_act: conv1 (Conv) */\n    {\n        enum {\n");
    has("net_toy.c", "static const float net_bias[3] = {\n");
    has("toy_max.h", "toy_max");
    lacks("net.c", "net_bias");
    lacks("net_toy.c", "net_half");
}
END_TEST

/* Views between composites, an output of a composite that nobody reads, results that are
 * parameters, views and each other's copies, constants that are numbers and infinite. */
START_TEST(views_copies_and_several_outputs)
{
    static const char text[] =
        "fn main(%x: (2,6) f32) -> (%p, %q, %r, %s) {\n"
        "  %p, %q, %r, %s = call toy_odd(%x) : (2,6) f32, (3,4) f32, (2,6) f32, (4,3) f32\n"
        "}\n"
        "fn toy_odd(%x: (2,6) f32) -> (%x, %v, %d, %w) compiler \"toy\" global_symbol "
        "\"toy_odd\" {\n"
        "  %a = call scaled(%x) : (2,6) f32\n"
        "  %v = reshape(%a) {shape=[3,4]} : (3,4) f32\n"
        "  %b = call clipped(%v) : (3,4) f32\n"
        "  %c, %unread = call halves(%b) : (1,4) f32, (2,4) f32\n"
        "  %l = reshape(%c) {shape=[4]} : (4) f32\n"
        "  %k = call twice(%l) : (4) f32\n"
        "  %d = call infinite(%a, %x) : (2,6) f32\n"
        "  %w = reshape(%d) {shape=[4,3]} : (4,3) f32\n"
        "}\n" COMPOSITE(
            "scaled", "scale", "%x: (2,6) f32",
            "%y") "  const @third : (6) f32 = [0.1, ...]\n"
                  "  %y = multiply(%x, @third) : (2,6) f32\n"
                  "}\n" COMPOSITE(
                      "clipped", "clip", "%x: (3,4) f32",
                      "%y") "  %y = clip(%x) {a_min=-inf, a_max=0.100000001} : (3,4) f32\n"
                            "}\n" COMPOSITE(
                                "halves", "split", "%x: (3,4) f32",
                                "%y, %z") "  %y, %z = split(%x) {axis=0, sizes=[1,2]} : (1,4) f32, "
                                          "(2,4) f32\n"
                                          "}\n" COMPOSITE(
                                              "twice", "add", "%x: (4) f32",
                                              "%y") "  %y = add(%x, %x) : (4) f32\n"
                                                    "}\n" COMPOSITE(
                                                        "infinite", "add",
                                                        "%x: (2,6) f32, %z: (2,6) f32",
                                                        "%y") "  %y = add(%x, %z) : (2,6) f32\n"
                                                              "}\n";

    check(text, toy(), WEIGHTS_AUTO, false);
    generate(text, toy(), WEIGHTS_AUTO, false);
    lacks("net_toy.c", "third"); /* all its elements are one number, which stands in the text */
    has("net_toy.c", "#include <math.h>\n");
    has("net_toy.c", "memcpy(output0, input0, 48);\n");
    has("net_toy.c", "memcpy(output3, output2, 48);\n");
}
END_TEST

/* The same numbers for ours and for the toy: one array, also where arrays stand inline. */
START_TEST(an_array_of_two_files_is_stored_once)
{
    static const char text[] =
        "fn main(%x: (4) f32) -> (%y, %z) {\n"
        "  %y = call ours(%x) : (4) f32\n"
        "  %z = call toy_scale(%y) : (4) f32\n"
        "}\n"
        "fn ours(%x: (4) f32) -> (%y) compiler \"c\" composite \"c.multiply\" {\n"
        "  const @a : (4) f32 = [1, 2, nan, 4]\n"
        "  %y = multiply(%x, @a) : (4) f32\n"
        "}\n"
        "fn toy_scale(%x: (4) f32) -> (%y) compiler \"toy\" global_symbol \"toy_scale\" {\n"
        "  %y = call k(%x) : (4) f32\n"
        "}\n" COMPOSITE("k", "scale", "%x: (4) f32",
                        "%y") "  const @other : (4) f32 = [1, 2, nan, 4]\n"
                              "  %y = multiply(%x, @other) : (4) f32\n"
                              "}\n";

    check(text, toy(), WEIGHTS_INLINE, false);
    check(text, toy(), WEIGHTS_FILE, false);
    generate(text, toy(), WEIGHTS_INLINE, false);
    has("net.c", "\nconst float net_a[4] = {\n");
    has("net_toy.c", "extern const float net_a[4];\n");
    generate(text, toy(), WEIGHTS_FILE, false);
    has("net_toy.c", "#include \"net_weights.h\"\n");
    lacks("net_toy.c", "extern const float");
}
END_TEST

/* --- scratch -----------------------------------------------------------------------------------
 */

static int run_program(const char *source, const char *compiler)
{
    temp_file(&dir, "main.c", source, strlen(source));
    return system(arena_printf(&ctx->perm,
                               "cd %s && %s -std=c99 -g -Wall -Wextra -Werror -fsanitize=address "
                               "-o main main.c net*.c -lm && ./main",
                               dir.path, compiler));
}

static const cJSON *item(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);

    ck_assert_msg(found != NULL, "no '%s'", key);
    return found;
}

static int number(const cJSON *object, const char *key)
{
    return (int)cJSON_GetNumberValue(item(object, key));
}

static const char *text_at(const cJSON *list, int i)
{
    return cJSON_GetStringValue(cJSON_GetArrayItem(list, i));
}

/* The region needs: the patch of the second convolution (3 * 3 * 3 floats, 108 bytes) together with
 * its result (12 floats), which the sum reads: 112 + 48. The first convolution's patch is smaller.
 * The second region needs nothing. */
START_TEST(scratch_is_counted_exactly)
{
    static const char source[] =
        "#include <stdlib.h>\n"
        "#include <string.h>\n"
        "#include \"net.h\"\n"
        "#include \"net_toy.h\"\n"
        "enum { SCRATCH = 160 };\n"
        "int main(void)\n"
        "{\n"
        "    float x[NET_X_LEN] = { 1.0f }, skip[NET_SKIP_LEN] = { 1.0f };\n"
        "    float a[12], b[NET_B_LEN], y[NET_Y_LEN], b2[NET_B_LEN];\n"
        "    void *arena = malloc(NET_ARENA_BYTES), *scratch = malloc(SCRATCH);\n"
        "    memset(arena, 255, NET_ARENA_BYTES);\n"
        "    memset(scratch, 255, SCRATCH);\n"
        "    if (net_toy_conv1(x, skip, a, b, scratch) != 0)\n"
        "        return 1;\n"
        "    if (net_run(x, skip, y, b2, arena) != NET_OK || memcmp(b, b2, sizeof b) != 0)\n"
        "        return 2;\n"
        "    for (int i = 0; i < 12; i++)\n"
        "        if (a[i] != a[i])\n"
        "            return 3;\n"
        "    free(arena);\n"
        "    free(scratch);\n"
        "    return 0;\n"
        "}\n";
    const cJSON *json, *modules, *region, *map;

    generate(net_text, toy(), WEIGHTS_AUTO, false);
    json = cJSON_Parse(file_text("net.json"));
    modules = item(json, "modules");
    ck_assert_int_eq(cJSON_GetArraySize(modules), 2);
    region = cJSON_GetArrayItem(item(cJSON_GetArrayItem(modules, 1), "regions"), 0);
    ck_assert_int_eq(number(region, "scratch_bytes"), 160);
    map = item(region, "scratch");
    ck_assert_int_eq(cJSON_GetArraySize(map), 3);
    ck_assert_int_eq(number(cJSON_GetArrayItem(map, 0), "bytes"), 72);
    /* x, b and skip are the caller's; a follows the scratch: 48 bytes. */
    ck_assert_int_eq(number(region, "arena_bytes_in_use"), 160 + 48);
    ck_assert_int_eq(number(item(json, "arena"), "bytes"), 160 + 48);
    region = cJSON_GetArrayItem(item(cJSON_GetArrayItem(modules, 1), "regions"), 1);
    ck_assert_int_eq(number(region, "scratch_bytes"), 0);
    cJSON_Delete((cJSON *)(uintptr_t)json);
    ck_assert_int_eq(run_program(source, "gcc"), 0);
    ck_assert_int_eq(run_program(source, "clang"), 0);
}
END_TEST

/* --- metadata ----------------------------------------------------------------------------------
 */

START_TEST(the_json_lists_modules_entry_points_and_constants)
{
    cJSON *json;
    const cJSON *ours, *theirs, *region;

    generate(net_text, toy(), WEIGHTS_FILE, false);
    json = cJSON_Parse(file_text("net.json"));
    ours = cJSON_GetArrayItem(item(json, "modules"), 0);
    theirs = cJSON_GetArrayItem(item(json, "modules"), 1);
    ck_assert_str_eq(cJSON_GetStringValue(item(ours, "compiler")), "c");
    ck_assert_str_eq(text_at(item(ours, "files"), 3), "net_weights.c");
    ck_assert_str_eq(text_at(item(ours, "entry_points"), 1), "net_step");
    ck_assert_int_eq(number(cJSON_GetArrayItem(item(ours, "regions"), 0), "index"), 1);
    ck_assert_str_eq(cJSON_GetStringValue(item(theirs, "compiler")), "toy");
    ck_assert_str_eq(cJSON_GetStringValue(item(theirs, "format")), "c");
    ck_assert_str_eq(text_at(item(theirs, "files"), 1), "net_toy.c");
    ck_assert_str_eq(text_at(item(theirs, "files"), 2), "toy_max.h");
    ck_assert_str_eq(text_at(item(theirs, "entry_points"), 1), "net_toy_fc");
    region = cJSON_GetArrayItem(item(theirs, "regions"), 0);
    ck_assert_str_eq(text_at(item(region, "composites"), 2), "toy.add");
    ck_assert_str_eq(text_at(item(region, "constants"), 1), "net_w");
    ck_assert_int_eq(cJSON_GetArraySize(item(region, "constants")), 3);
    /* 3 * 4 * 4 results of 2 * 3 * 3 products, 3 * 2 * 2 of 3 * 3 * 3 */
    ck_assert_int_eq(number(region, "macs"), 48 * 18 + 12 * 27);
    ck_assert_int_eq(number(region, "weight_bytes"), 4 * (54 + 3 + 81));
    ck_assert_str_eq(
        cJSON_GetStringValue(item(cJSON_GetArrayItem(item(json, "regions"), 0), "compiler")),
        "toy");
    cJSON_Delete(json);
}
END_TEST

/* --- hooks -------------------------------------------------------------------------------------
 */

static const char hook_json[] =
    "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"c\",\n"
    "  \"composites\": [ { \"name\": \"add\", \"pattern\": \"add(x, w:const)\",\n"
    "                    \"scratch\": \"4\", \"template\": \"add.c.tmpl\" } ] }\n";

/* Reads the constant as the hook stored it: negative. The original is not stored. */
static const struct toy_file hook_files[] = {
    { "add.c.tmpl", "float *const there = (float *)(void *)((unsigned char *)${scratch} + 16);\n\n"
                    "//#if missing\n"
                    "${missing}\n"
                    "//#end\n"
                    "for (int i = 0; i < ${count}; i++)\n"
                    "    there[i] = ${negative}[i];\n"
                    "for (int i = 0; i < ${count}; i++)\n"
                    "    ${out}[i] = ${x}[i] - there[i]; /* ${word} */\n" },
    { NULL, NULL }
};

static bool negate(const struct composite_row *row, const struct match *match,
                   struct lowering *lowering)
{
    const struct value *w = match_capture(match, "w")->value;
    const int64_t n = type_elements(&w->type);
    float *negative = arena_array(lowering->arena, float, n);

    ck_assert_str_eq(row->name, "toy.add");
    for (int64_t i = 0; i < n; i++)
        negative[i] = -((const float *)w->data)[i];
    lowering_array(lowering, "negative", &w->type, negative, "negated");
    lowering_array(lowering, "unused", &w->type, w->data, "");
    lowering_int(lowering, "count", n);
    lowering_text(lowering, "word", "old");
    lowering_text(lowering, "word", "as %s", "said");
    lowering->scratch_bytes = (size_t)n * sizeof(float);
    return true;
}

static const char hook_text[] =
    "fn main(%x: (3) f32) -> (%y) {\n"
    "  %y = call toy_add(%x) : (3) f32\n"
    "}\n"
    "fn toy_add(%x: (3) f32) -> (%y) compiler \"toy\" global_symbol \"toy_add\" {\n"
    "  %y = call k(%x) : (3) f32  from Add \"plus\" #0\n"
    "}\n" COMPOSITE("k", "add", "%x: (3) f32", "%y") "  const @w : (3) f32 = [1, 2, 3]\n"
                                                     "  %y = add(%x, @w) : (3) f32\n"
                                                     "}\n";

START_TEST(hooks_add_keys_arrays_and_scratch)
{
    static const struct target_hooks hooks = { .target = "toy", .lower = negate };
    struct target *target = toy_target(ctx, hook_json, hook_files);
    const struct targets *targets = toy_targets(ctx, 1, &target);

    target->hooks = &hooks;
    check(hook_text, targets, WEIGHTS_AUTO, false);
    generate(hook_text, targets, WEIGHTS_AUTO, false);
    has("net_toy.c", "/* plus.negative: f32 [3] negated, -3 .. -1, ");
    has("net_toy.c", "/* as said */");
    lacks("net_toy.c", "net_w");
    lacks("net_toy.c", "unused");
    has("net.h", "NET_ARENA_BYTES = 32,"); /* 4 bytes of the row, then 12 of the hook */
}
END_TEST

static bool refuse(const struct composite_row *row, const struct match *match,
                   struct lowering *lowering)
{
    (void)row, (void)match, (void)lowering;
    return false;
}

START_TEST(what_cannot_be_lowered_is_an_error)
{
    static const struct target_hooks hooks = { .target = "toy", .lower = refuse };
    struct target *target = toy_target(ctx, hook_json, hook_files);
    struct targets *targets = toy_targets(ctx, 1, &target);

    target->hooks = &hooks;
    generate(hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(ctx, DIAG_OFFLOAD, "toy.add cannot be lowered"));
    target->hooks = NULL;
    generate(hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(ctx, DIAG_TEMPLATE,
                           "partition/targets/toy/add.c.tmpl:6: unknown key 'count'"));
    target->rows[0].template_text = NULL;
    generate(hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(ctx, DIAG_OFFLOAD, "composite 'toy.add' has no template"));
    target->rows[0].name = "toy.plus";
    generate(hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(ctx, DIAG_OFFLOAD, "target 'toy' has no composite 'toy.add'"));
    target->name = "tyo";
    generate(hook_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(ctx, DIAG_TARGET_UNKNOWN, "is for target 'toy', which is not known"));
    generate(hook_text, NULL, WEIGHTS_AUTO, true);
}
END_TEST

/* Templates that ask for what is not there. */
START_TEST(errors_of_templates_name_file_line_and_reason)
{
    static const struct {
        const char *template, *message;
    } rows[] = {
        { "${conv2d}", "unknown key 'conv2d': it is computed inside of the composite" },
        { "${x}\n${x.dim4}", "conv2d.c.tmpl:2: unknown key 'x.dim4'" },
        { "${conv2d.stride}", "unknown key 'conv2d.stride'" },
        { "${conv2d.strides2}", "unknown key 'conv2d.strides2'" },
        { "${out1}", "unknown key 'out1'" },
        { "//#for i x.dimension\n//#end", "unknown key 'x.dimension'" },
    };
    struct target *target = toy_target(ctx, toy_json, toy_files);

    target->rows[0].template_text = rows[_i].template;
    generate(net_text, toy_targets(ctx, 1, &target), WEIGHTS_AUTO, true);
    ck_assert_msg(expect_error(ctx, DIAG_TEMPLATE, rows[_i].message), "%s", expect_text(ctx));
}
END_TEST

/* --- format extern and json --------------------------------------------------------------------
 */

#define USER_JSON(format)                                                                          \
    "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"" format "\",\n"                    \
    "  \"composites\": [ { \"name\": \"add\", \"pattern\": \"add(x, w:const)\",\n"                 \
    "                    \"scratch\": \"out.bytes\" } ],\n"                                        \
    "  \"host\": { \"files\": [\"user.c\"], \"flags\": \"-lm\" } }\n"

/* Finds its constants by name, and fails where the first number is above 100. */
static const struct toy_file user_files[] = {
    { "user.c", "#include <string.h>\n"
                "#include \"net_toy.h\"\n"
                "int net_toy_add(const float *x, float *y, void *scratch)\n"
                "{\n"
                "    float *sum = scratch;\n"
                "    memcpy(sum, x, 12);\n"
                "    for (int k = 0; k < 2; k++) {\n"
                "        const struct relayc_constant *c = &net_toy_add_constants[k];\n"
                "        const float *data = c->tensor.data;\n"
                "        if (c->tensor.dtype != RELAYC_F32 || c->tensor.rank != 1 || "
                "c->tensor.dim[0] != 3 ||\n"
                "            strcmp(c->name, k ? \"second\" : \"first_w_\") != 0)\n"
                "            return 2;\n"
                "        for (int i = 0; i < 3; i++)\n"
                "            sum[i] += data[i];\n"
                "    }\n"
                "    memcpy(y, sum, 12);\n"
                "    return x[0] > 100.0f;\n"
                "}\n" },
    { NULL, NULL }
};

static const char user_text[] =
    "fn main(%x: (3) f32) -> (%y) {\n"
    "  %y = call toy_add(%x) : (3) f32\n"
    "}\n"
    "fn toy_add(%x: (3) f32) -> (%y) compiler \"toy\" global_symbol \"toy_add\" {\n"
    "  %a = call k(%x) : (3) f32\n"
    "  %y = call l(%a) : (3) f32\n"
    "}\n" COMPOSITE("k", "add", "%x: (3) f32",
                    "%y") "  const @\"first\\x22w\\x22\" : (3) f32 = [1, 2, 3]\n"
                          "  %y = add(%x, @\"first\\x22w\\x22\") : (3) f32\n"
                          "}\n" COMPOSITE("l", "add", "%x: (3) f32",
                                          "%y") "  const @second : (3) f32 = [1, 2, 3]\n"
                                                "  %y = add(%x, @second) : (3) f32\n"
                                                "}\n";

START_TEST(functions_of_the_user_get_their_constants)
{
    static const char *const json[] = { USER_JSON("extern"), USER_JSON("json") };
    static const char source[] =
        "#include \"net.h\"\n"
        "#include \"user.c\"\n"
        "int main(void)\n"
        "{\n"
        "    static union { double align[2]; unsigned char bytes[NET_ARENA_BYTES]; } arena;\n"
        "    float x[3] = { 1.0f, 2.0f, 3.0f }, y[3];\n"
        "    if ((uintptr_t)arena.bytes % NET_ARENA_ALIGN != 0)\n"
        "        return 0;\n"
        "    if (net_run(x, y, arena.bytes) != NET_OK || y[2] != 9.0f)\n"
        "        return 1;\n"
        "    x[0] = 101.0f;\n"
        "    if (net_run(x, y, arena.bytes) != NET_REGION_FAILED)\n"
        "        return 2;\n"
        "    return net_step(0, x, y, arena.bytes) != NET_REGION_FAILED;\n"
        "}\n";
    struct target *target = toy_target(ctx, json[_i], user_files);
    const struct targets *targets = toy_targets(ctx, 1, &target);
    struct codegen_result result;

    check(user_text, targets, WEIGHTS_AUTO, false);
    check(user_text, targets, WEIGHTS_FILE, true);
    result = generate(user_text, targets, WEIGHTS_AUTO, false);
    ck_assert_int_eq(result.n_host_files, 1);
    ck_assert_str_eq(result.host_files[0].name, "user.c");
    ck_assert_str_eq(result.host_flags, "-lm");
    has("net_toy.h", "#include \"relayc_abi.h\"\n");
    has("net_toy.h", "extern const struct relayc_constant net_toy_add_constants[2];\n");
    has("net_toy.c", "    { \"second\", { net_first_w, RELAYC_F32, 1, { 3 } } },\n");
    has("relayc_abi.h", "struct relayc_tensor {\n");
    /* the value between the two, and 12 bytes for each: 16 + 16 */
    has("net.json", "\"scratch_bytes\":\t32");
    temp_file(&dir, "user.c", user_files[0].text, strlen(user_files[0].text));
    ck_assert_int_eq(run_program(source, "gcc"), 0);
    ck_assert_int_eq(run_program(source, "clang"), 0);
    if (_i == 1) {
        cJSON *graph = cJSON_Parse(file_text("net_toy_add.json"));

        ck_assert_ptr_nonnull(graph);
        cJSON_Delete(graph);
    }
}
END_TEST

/* Every element type has its code. */
START_TEST(the_abi_knows_all_element_types)
{
    struct target *target = toy_target(ctx, USER_JSON("extern"), user_files);

    generate(user_text, toy_targets(ctx, 1, &target), WEIGHTS_AUTO, false);
    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++) {
        char *name = arena_printf(&ctx->perm, " RELAYC_%s = ", dtype_name((enum dtype)i));

        for (char *c = name; *c; c++)
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        has("relayc_abi.h", name);
    }
}
END_TEST

/* --- format stream -----------------------------------------------------------------------------
 */

static const char stream_json[] =
    "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"stream\",\n"
    "  \"composites\": [ { \"name\": \"add\", \"pattern\": \"add(a, b)\" },\n"
    "                  { \"name\": \"multiply\", \"pattern\": \"multiply(a, b)\",\n"
    "                    \"scratch\": \"out.bytes\" } ],\n"
    "  \"prologue\": \"prologue.c.tmpl\", \"region\": \"region.c.tmpl\",\n"
    "  \"headers\": [\"toy_machine.h\"], \"host\": { \"files\": [\"toy_machine.c\"] } }\n";

/* An instruction is 16 numbers of 16 bits: operator, elements, then kind, index and offset / 16 of
 * two operands, the result and the scratch. */
static const struct toy_file stream_files[] = {
    { "prologue.c.tmpl", "#include \"toy_machine.h\"\n" },
    { "region.c.tmpl",
      "int ${fn}(${params})\n{\n"
      "    const void *const inputs[] = { ${inputs} };\n"
      "    void *const outputs[] = { ${outputs} };\n\n"
      "    /* ${n_inputs} in, the first ${input0.bytes} bytes; ${scratch_bytes} of scratch */\n"
      "    return toy_machine(${stream}, ${stream_bytes}, inputs, outputs, ${scratch});\n"
      "}\n" },
    { "toy_machine.h",
      "#include <stddef.h>\n#include <stdint.h>\n"
      "int toy_machine(const uint8_t *stream, size_t bytes, const void *const *inputs,\n"
      "                void *const *outputs, void *scratch);\n" },
    { "toy_machine.c",
      "#include \"toy_machine.h\"\n"
      "#include <string.h>\n"
      "int toy_machine(const uint8_t *stream, size_t bytes, const void *const *inputs,\n"
      "                void *const *outputs, void *scratch)\n{\n"
      "    for (size_t at = 0; at < bytes; at += 32) {\n"
      "        uint16_t op[16];\n"
      "        const float *operand[2];\n"
      "        float *place[4], *result;\n"
      "        memcpy(op, stream + at, sizeof op);\n"
      "        for (int i = 0; i < 4; i++)\n"
      "            place[i] = scratch ? (float *)scratch + 4 * op[4 + 3 * i] : NULL;\n"
      "        for (int i = 0; i < 2; i++)\n"
      "            operand[i] = op[2 + 3 * i] == 0   ? (const float *)inputs[op[3 + 3 * i]]\n"
      "                         : op[2 + 3 * i] == 1 ? (const float *)outputs[op[3 + 3 * i]]\n"
      "                                              : place[i];\n"
      "        result = op[8] == 1 ? (float *)outputs[op[9]] : place[2];\n"
      "        if (op[0] > 1)\n"
      "            return 1;\n"
      "        if (op[0] == 1) {\n"
      "            for (int i = 0; i < op[1]; i++)\n"
      "                place[3][i] = operand[0][i] * operand[1][i];\n"
      "            memcpy(result, place[3], 4u * op[1]);\n"
      "        } else {\n"
      "            for (int i = 0; i < op[1]; i++)\n"
      "                result[i] = operand[0][i] + operand[1][i];\n"
      "        }\n"
      "    }\n"
      "    return 0;\n"
      "}\n" },
    { NULL, NULL }
};

static bool assemble(const struct target *target, const struct region_view *region,
                     struct lowering *lowering)
{
    uint16_t *code = arena_array(lowering->arena, uint16_t, 16 * region->fn->n_nodes);
    int n = 0;

    ck_assert_str_eq(target->name, "toy");
    for (const struct node *call = region->fn->first; call; call = call->next) {
        const struct value *values[3];
        uint16_t *op = &code[16 * n];

        if (call->op != OP_CALL)
            continue;
        values[0] = call->inputs[0];
        values[1] = call->inputs[call->n_inputs - 1];
        values[2] = call->outputs[0];
        op[0] = str_ends(call->callee->composite, "multiply");
        op[1] = (uint16_t)type_elements(&call->outputs[0]->type);
        for (int i = 0; i < 3; i++) {
            const struct region_place *place = &region->places[values[i]->id];

            ck_assert_int_eq((int)(place->offset % 16), 0);
            ck_assert(place->offset + type_bytes(&values[i]->type) <= region->scratch_bytes ||
                      place->kind != REGION_SCRATCH);
            op[2 + 3 * i] = (uint16_t)place->kind;
            op[3 + 3 * i] = (uint16_t)place->index;
            op[4 + 3 * i] = (uint16_t)(place->offset / 16);
        }
        op[13] = (uint16_t)(region->call_scratch[call->id] / 16);
        n++;
    }
    lowering->stream = (const uint8_t *)code;
    lowering->stream_bytes = 32 * (size_t)n;
    return true;
}

static const char stream_text[] =
    "fn main(%x: (5) f32, %z: (5) f32) -> (%y, %w) {\n"
    "  %v = call toy_one(%x, %z) : (5) f32\n"
    "  %y = call toy_two(%v, %z) : (5) f32\n"
    "  %w = call toy_three(%v) : (5) f32\n"
    "}\n"
    "fn toy_one(%x: (5) f32, %z: (5) f32) -> (%d) compiler \"toy\" global_symbol \"toy_one\" {\n"
    "  %a = call add_(%x, %z) : (5) f32\n"
    "  %b = call multiply_(%a, %z) : (5) f32\n"
    "  %r = reshape(%b) {shape=[5]} : (5) f32\n"
    "  %c = call multiply_(%r, %a) : (5) f32\n"
    "  %d = call add_(%c, %r) : (5) f32\n"
    "}\n"
    "fn toy_two(%x: (5) f32, %z: (5) f32) -> (%d) compiler \"toy\" global_symbol \"toy_two\" {\n"
    "  %a = call add_(%x, %z) : (5) f32\n"
    "  %b = call multiply_(%a, %z) : (5) f32\n"
    "  %c = call multiply_(%b, %a) : (5) f32\n"
    "  %d = call add_(%c, %b) : (5) f32\n"
    "}\n"
    "fn toy_three(%x: (5) f32) -> (%d) compiler \"toy\" global_symbol \"toy_three\" {\n"
    "  %d = call twice(%x) : (5) f32\n"
    "}\n" COMPOSITE("add_", "add", "%a: (5) f32, %b: (5) f32",
                    "%y") "  %y = add(%a, %b) : (5) f32\n"
                          "}\n" COMPOSITE("twice", "add", "%a: (5) f32",
                                          "%y") "  %y = add(%a, %a) : (5) f32\n"
                                                "}\n" COMPOSITE(
                                                    "multiply_", "multiply",
                                                    "%a: (5) f32, %b: (5) f32",
                                                    "%y") "  %y = multiply(%a, %b) : (5) f32\n"
                                                          "}\n";

START_TEST(streams_run_and_equal_ones_are_stored_once)
{
    static const struct target_hooks hooks = { .target = "toy", .assemble = assemble };
    struct target *target = toy_target(ctx, stream_json, stream_files);
    const struct targets *targets = toy_targets(ctx, 1, &target);
    const cJSON *regions;
    cJSON *json;

    target->hooks = &hooks;
    check(stream_text, targets, WEIGHTS_AUTO, false);
    check(stream_text, targets, WEIGHTS_FILE, true);
    generate(stream_text, targets, WEIGHTS_AUTO, false);
    has("net_toy.c", "static const union net_toy_one_stream {\n    uint64_t word[16];\n"
                     "    uint8_t v[128];\n} net_toy_one_stream = { {\n");
    lacks("net_toy.c", "toy_two_stream");
    has("net_toy.c", "uint8_t v[32];"); /* words also where it is short: it is aligned */
    json = cJSON_Parse(file_text("net.json"));
    regions = item(cJSON_GetArrayItem(item(json, "modules"), 1), "regions");
    ck_assert_int_eq(number(cJSON_GetArrayItem(regions, 1), "stream_bytes"), 128);
    /* Three times 20 bytes at once: two values between, and the scratch of a product. */
    ck_assert_int_eq(number(cJSON_GetArrayItem(regions, 0), "scratch_bytes"), 4 * 32);
    cJSON_Delete(json);
}
END_TEST

START_TEST(a_stream_needs_a_hook_and_a_template)
{
    static const struct target_hooks hooks = { .target = "toy", .assemble = assemble };
    struct target *target = toy_target(ctx, stream_json, stream_files);
    const struct targets *targets = toy_targets(ctx, 1, &target);

    generate(stream_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(ctx, DIAG_OFFLOAD, "but no hook that assembles one"));
    target->hooks = &hooks;
    target->region_template = NULL;
    generate(stream_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(ctx, DIAG_OFFLOAD, "but no template \"region\""));
}
END_TEST

/* --- files -------------------------------------------------------------------------------------
 */

START_TEST(files_of_one_name_are_refused)
{
    static const char json[] = "{ \"name\": \"toy\", \"description\": \"\", \"format\": \"c\",\n"
                               "  \"composites\": [ { \"name\": \"add\", \"pattern\": "
                               "\"add(x, w:const)\", \"template\": \"a.c.tmpl\" } ],\n"
                               "  \"headers\": [\"net.h\"] }\n";
    static const struct toy_file files[] = { { "a.c.tmpl", "${out}[0] = ${x}[0];\n" },
                                             { "net.h", "int a;\n" },
                                             { NULL, NULL } };
    struct target *target = toy_target(ctx, json, files);

    generate(hook_text, toy_targets(ctx, 1, &target), WEIGHTS_AUTO, true);
    ck_assert(expect_error(ctx, DIAG_OFFLOAD,
                           "target 'toy' wants a file net.h of its own; there is another"));
}
END_TEST

/* --- main --------------------------------------------------------------------------------------
 */

int main(void)
{
    Suite *suite = suite_create("codegen_external");
    TCase *tcase = tcase_create("codegen_external");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, regions_of_templates_give_the_results_of_the_reference, 0, 3);
    tcase_add_test(tcase, the_files_say_what_runs_where);
    tcase_add_test(tcase, views_copies_and_several_outputs);
    tcase_add_test(tcase, an_array_of_two_files_is_stored_once);
    tcase_add_test(tcase, scratch_is_counted_exactly);
    tcase_add_test(tcase, the_json_lists_modules_entry_points_and_constants);
    tcase_add_test(tcase, hooks_add_keys_arrays_and_scratch);
    tcase_add_test(tcase, what_cannot_be_lowered_is_an_error);
    tcase_add_loop_test(tcase, errors_of_templates_name_file_line_and_reason, 0, 6);
    tcase_add_loop_test(tcase, functions_of_the_user_get_their_constants, 0, 2);
    tcase_add_test(tcase, the_abi_knows_all_element_types);
    tcase_add_test(tcase, streams_run_and_equal_ones_are_stored_once);
    tcase_add_test(tcase, a_stream_needs_a_hook_and_a_template);
    tcase_add_test(tcase, files_of_one_name_are_refused);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
