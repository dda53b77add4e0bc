/* The generated files as a whole: header, return codes, forms of weights, JSON, limits. */
#include <check.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

/* Two regions with an arena between them, a bool output, a rank-0 input, an empty output. */
static const char small[] =
    "fn main(%x: (2,3) f32, %s: () f32) -> (%y, %flag, %none) {\n"
    "  const @big : (100) f32 = crc32:00000000\n"
    "  const @c : (3) f32 = [1,0.1,-3]\n"
    "  %a = add(%x, @c) : (2,3) f32\n"
    "  %t = transpose(%a) {axes=[1,0]} : (3,2) f32\n"
    "  %e = multiply(%t, %s) : (3,2) f32\n"
    "  %y = transpose(%e) {axes=[1,0]} : (2,3) f32\n"
    "  %flag = greater(%x, %s) : (2,3) bool\n"
    "  %b = multiply(@big, %s) : (100) f32\n"
    "  %none = strided_slice(%b) {begin=[0], strides=[1], size=[0]} : (0) f32\n"
    "}\n";

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

static struct codegen_result generate(const char *text, const struct codegen_options *given)
{
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    struct codegen_options options = *given;
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    options.name = given->name ? given->name : "net";
    options.dir = dir.path;
    options.model_file = given->model_file ? given->model_file : "net.onnx";
    options.model_sha256 = "";
    options.command = "";
    ck_assert_msg(codegen_c(module, &options, &set, &result) && output_commit(&set), "%s",
                  expect_text(ctx));
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

/* Compiles `source`, which includes "net.h", with the generated C, and runs it. */
static int run_program(const char *source, const char *compiler)
{
    temp_file(&dir, "main.c", source, strlen(source));
    return system(
        arena_printf(&ctx->perm,
                     "cd %s && %s -std=c99 -Wall -Wextra -Werror -o main main.c net*.c -lm && "
                     "./main",
                     dir.path, compiler));
}

START_TEST(every_misuse_has_a_return_code)
{
    static const char source[] =
        "#include <stddef.h>\n"
        "#include \"net.h\"\n"
        "static union { double align; unsigned char bytes[NET_ARENA_BYTES + 32]; } arena;\n"
        "int main(void)\n"
        "{\n"
        "    static float x[NET_X_LEN], y[NET_Y_LEN], none[1];\n"
        "    static const float s[NET_S_LEN] = { 2.0f };\n"
        "    static uint8_t flag[NET_FLAG_LEN + 1];\n"
        "    unsigned char *a = arena.bytes;\n"
        "    volatile size_t one = 1; /* compilers see through constants, and warn */\n"
        "    while ((uintptr_t)a % NET_ARENA_ALIGN != 0)\n"
        "        a++;\n"
        "    x[0] = 3.0f;\n"
        "    if (net_run(x, s, y, flag, none, a) != NET_OK || y[0] != 8.0f || flag[0] != 1)\n"
        "        return 1;\n"
        "    if (net_run(NULL, s, y, flag, none, a) != NET_NULL_POINTER)\n"
        "        return 2;\n"
        "    if (net_run(x, s, y, NULL, none, a) != NET_NULL_POINTER)\n"
        "        return 3;\n"
        "    if (net_run(x, s, y, flag, none, NULL) != NET_NULL_POINTER)\n"
        "        return 4;\n"
        "    if (net_run(x, s, y, flag, none, a + 1) != NET_MISALIGNED_ARENA)\n"
        "        return 5;\n"
        "    if (net_run((const float *)((const char *)x + one), s, y, flag, none, a) !=\n"
        "            NET_MISALIGNED_ARRAY ||\n"
        "        net_run(x, s, (float *)((char *)y + 2 * one), flag, none, a) != "
        "NET_MISALIGNED_ARRAY ||\n"
        "        net_step(0, x, (const float *)((const char *)s + 3 * one), y, flag, none, a) !=\n"
        "            NET_MISALIGNED_ARRAY)\n"
        "        return 8;\n"
        "    if (net_run(x, s, y, flag + one, none, a) != NET_OK)\n"
        "        return 9;\n"
        "    y[0] = 0;\n"
        "    for (int i = 0; i < NET_REGIONS; i++)\n"
        "        if (net_step(i, x, s, y, flag, none, a) != NET_OK)\n"
        "            return 6;\n"
        "    if (net_step(NET_REGIONS, x, s, y, flag, none, a) != NET_NO_REGION ||\n"
        "        net_step(-1, x, s, y, flag, none, a) != NET_NO_REGION || y[0] != 8.0f)\n"
        "        return 7;\n"
        "    return 0;\n"
        "}\n";

    generate(small, &(struct codegen_options){ .step = true });
    ck_assert_int_eq(run_program(source, "gcc"), 0);
    ck_assert_int_eq(run_program(source, "clang"), 0);
}
END_TEST

/* Arrays that are only read may overlap each other. */
START_TEST(overlaps_are_found_under_guard)
{
    static const char source[] =
        "#include \"net.h\"\n"
        "static union { double align; unsigned char bytes[NET_ARENA_BYTES + 32]; } arena;\n"
        "int main(void)\n"
        "{\n"
        "    static float x[NET_X_LEN + NET_Y_LEN], y[NET_Y_LEN], none[1];\n"
        "    static uint8_t flag[NET_FLAG_LEN];\n"
        "    unsigned char *a = arena.bytes;\n"
        "    volatile int last = 4 * NET_Y_LEN - 1, end = NET_ARENA_BYTES - 1;\n"
        "    while ((uintptr_t)a % NET_ARENA_ALIGN != 0)\n"
        "        a++;\n"
        "    if (net_run(x, x, y, flag, none, a) != NET_OK ||\n"
        "        net_run(x, x, x + NET_X_LEN, flag, none, a) != NET_OK)\n"
        "        return 1;\n"
        "    if (net_run(x, x, x + NET_X_LEN - 1, flag, none, a) != NET_OVERLAP ||\n"
        "        net_run(x, x + NET_X_LEN, y, (uint8_t *)y + last, none, a) != NET_OVERLAP)\n"
        "        return 2;\n"
        "    if (net_run((float *)(void *)a, x, y, flag, none, a) != NET_OVERLAP ||\n"
        "        net_run(x, x, y, a + end, none, a) != NET_OVERLAP)\n"
        "        return 3;\n"
        "    return 0;\n"
        "}\n";

    generate(small, &(struct codegen_options){ .guard = true });
    ck_assert_int_eq(run_program(source, "gcc"), 0);
}
END_TEST

START_TEST(the_header_says_what_goes_in_and_out)
{
    const char *header;

    generate(small, &(struct codegen_options){ .weights = WEIGHTS_AUTO });
    header = file_text("net.h");
    ck_assert_ptr_nonnull(strstr(header, "int net_run(const float x[2 * 3], const float s[1], "
                                         "float y[2 * 3], uint8_t flag[2 * 3],\n"
                                         "            float none[1], void *arena);\n"));
    ck_assert_ptr_nonnull(strstr(header, " *    x  f32 [2,3]  \"x\"\n *    s  f32 []  \"s\"\n"));
    ck_assert_ptr_nonnull(strstr(header, "#define NET_NONE_LEN 0\n"));
    ck_assert_int_eq(system(arena_printf(&ctx->perm,
                                         "cd %s && echo '#include \"net.h\"' >h.cc && "
                                         "c++ -Wall -Wextra -pedantic -Werror "
                                         "-fsyntax-only h.cc",
                                         dir.path)),
                     0);
}
END_TEST

/* No line is longer than 100 columns, whatever the network and the model's file are called. */
START_TEST(names_do_not_make_lines_long)
{
    static const char *const names[] = { "net", "keywords_of_twelve_words" };
    static const char *const files[] = { ".h", ".c", "_weights.h", "_weights.c" };
    const char *text;
    size_t n;

    generate(small, &(struct codegen_options){
                        .name = names[_i],
                        .model_file = "a_model_that_was_trained_three_times_on_two_machines.onnx",
                        .weights = WEIGHTS_FILE });
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (text = file_text(arena_printf(&ctx->perm, "%s%s", names[_i], files[i])); *text;
             text += n + (text[n] == '\n')) {
            n = strcspn(text, "\n");
            ck_assert_msg(n <= 100, "%zu columns: %.*s", n, (int)n, text);
        }
}
END_TEST

START_TEST(the_arena_is_aligned_to_vectors)
{
    static const struct {
        const char *machine;
        int bytes;
    } rows[] = { { "generic", 16 }, { "cortex-m4", 16 }, { "aarch64", 16 },
                 { "x86-64", 16 },  { "x86-64-v3", 32 }, { "x86-64-v4", 64 } };
    const char *wanted;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        generate(small, &(struct codegen_options){ .machine = machine_find(ctx, rows[i].machine) });
        wanted = arena_printf(&ctx->perm, "    NET_ARENA_ALIGN = %d,\n", rows[i].bytes);
        ck_assert_msg(strstr(file_text("net.h"), wanted) != NULL, "%s", rows[i].machine);
    }
}
END_TEST

START_TEST(weights_are_inline_or_in_files)
{
    struct codegen_result result = generate(small, &(struct codegen_options){ .step = false });

    ck_assert_int_eq(result.n_files, 3);
    ck_assert_ptr_nonnull(strstr(file_text("net.c"), "static const float net_c[3] = {\n"
                                                     "    1.0f, 0.1f, -3.0f,\n};\n"));
    ck_assert_ptr_nonnull(
        strstr(file_text("net.c"), "static const float net_big[100] CACHE_LINE = {\n    "));
    result = generate(small, &(struct codegen_options){ .weights = WEIGHTS_FILE });
    ck_assert_int_eq(result.n_files, 5);
    ck_assert_uint_eq(result.weight_bytes, 412);
    ck_assert_ptr_null(strstr(file_text("net.c"), "0.1f"));
    ck_assert_ptr_nonnull(strstr(file_text("net_weights.h"), "extern const float net_c[3];\n"));
    ck_assert_ptr_nonnull(
        strstr(file_text("net_weights.c"), "\nconst float net_big[100] CACHE_LINE = {\n"));
}
END_TEST

/* 40 MB in arrays of 10 MB: never more than 16 MiB in one file. */
START_TEST(large_weights_are_split)
{
    static const char text[] = "fn main(%s: () f32) -> (%y) {\n"
                               "  const @a : (2500000) f32 = crc32:00000000\n"
                               "  const @b : (2500000) f32 = crc32:00000001\n"
                               "  const @c : (2500000) f32 = crc32:00000002\n"
                               "  %a2 = multiply(@a, %s) : (2500000) f32\n"
                               "  %b2 = multiply(@b, %a2) : (2500000) f32\n"
                               "  %y = multiply(@c, %b2) : (2500000) f32\n}\n";
    const struct codegen_result result = generate(text, &(struct codegen_options){ .step = false });

    ck_assert_int_eq(result.n_files, 7);
    ck_assert_str_eq(strrchr(result.files[3], '/'), "/net_weights.c");
    ck_assert_str_eq(strrchr(result.files[5], '/'), "/net_weights_3.c");
    ck_assert_ptr_nonnull(
        strstr(file_text("net_weights_3.c"), "union net_c net_c CACHE_LINE = { {\n    0x"));
    ck_assert_ptr_null(strstr(file_text("net_weights_2.c"), "union net_c net_c"));
}
END_TEST

START_TEST(equal_constants_are_stored_once)
{
    static const char text[] = "fn main(%x: (3) f32) -> (%y) {\n"
                               "  const @a : (3) f32 = [1,2,3]\n"
                               "  const @b : (3) f32 = [1,2,3]\n"
                               "  const @c : (1,3) f32 = [1,2,3]\n"
                               "  const @d : (3) i32 = [1,2,3]\n"
                               "  %p = add(%x, @a) : (3) f32\n"
                               "  %q = multiply(%p, @b) : (3) f32\n"
                               "  %r = cast(@d) {dtype=f32, saturate=true} : (3) f32\n"
                               "  %s = add(%q, %r) : (3) f32\n"
                               "  %t = add(%s, @c) : (1,3) f32\n"
                               "  %y = reshape(%t) {shape=[3]} : (3) f32\n}\n";
    const struct codegen_result result = generate(text, &(struct codegen_options){ .step = false });

    ck_assert_uint_eq(result.weight_bytes, 24);
    ck_assert_ptr_null(strstr(file_text("net.c"), "net_b"));
    ck_assert_ptr_null(strstr(file_text("net.c"), "net_c"));
}
END_TEST

static double number_at(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    ck_assert_msg(cJSON_IsNumber(item), "no number '%s'", key);
    return item->valuedouble;
}

START_TEST(the_json_describes_what_was_made)
{
    const struct codegen_result result =
        generate(small, &(struct codegen_options){ .step = false });
    cJSON *root = cJSON_Parse(file_text("net.json"));
    const cJSON *arena, *region;

    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(root, "schema")->valuestring, "relayc-model");
    ck_assert_double_eq(number_at(root, "version"), 1);
    ck_assert_double_eq(number_at(root, "weight_bytes"), 412);
    arena = cJSON_GetObjectItemCaseSensitive(root, "arena");
    ck_assert_double_eq(number_at(arena, "bytes"), (double)result.arena_bytes);
    ck_assert_double_ge(number_at(arena, "bytes"), number_at(arena, "lower_bound"));
    ck_assert_double_ge(number_at(arena, "in_place_only"), number_at(arena, "bytes"));
    ck_assert_double_ge(number_at(arena, "without_sharing"), number_at(arena, "in_place_only"));
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(root, "regions")),
                     result.n_regions);
    region = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "regions"), 0);
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(region, "function")->valuestring, "region_a");
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(root, "files")),
                     result.n_files - 1);
    cJSON_Delete(root);
}
END_TEST

START_TEST(tensors_beyond_what_an_int_counts_are_refused)
{
    static const char text[] =
        "fn main(%x: (2,1) f32) -> (%y) {\n"
        "  %b = broadcast_to(%x) {shape=[2,2147483648]} : (2,2147483648) f32\n"
        "  %y = max(%b) {axis=[1], keepdims=false} : (2) f32\n}\n";
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    const struct codegen_options options = {
        .name = "net", .dir = dir.path, .model_file = "net.onnx", .model_sha256 = "", .command = ""
    };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    ck_assert(!codegen_c(module, &options, &set, &result));
    ck_assert(expect_error(ctx, DIAG_TOO_BIG, "more than 2147483647 elements"));
    output_abort(&set);
    module_free(module);
}
END_TEST

START_TEST(an_arena_beyond_what_a_target_addresses_is_refused)
{
    /* Three tensors of 800 MB, each below every limit of its own, are alive together. */
#define BIG " : (2,100000000) f32\n"
#define SUMS "{axis=0, exclusive=false, reverse=false}" BIG
    static const char text[] =
        "fn main(%x: (2,1) f32) -> (%y) {\n"
        "  %b = broadcast_to(%x) {shape=[2,100000000]}" BIG "  %c = cumsum(%b) " SUMS
        "  %d = cumsum(%c) " SUMS "  %e = cumsum(%d) " SUMS "  %s = add(%c, %d)" BIG
        "  %t = add(%s, %e)" BIG "  %y = max(%t) {axis=[1], keepdims=false} : (2) f32\n}\n";
#undef SUMS
#undef BIG
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    const struct codegen_options options = {
        .name = "net", .dir = dir.path, .model_file = "net.onnx", .model_sha256 = "", .command = ""
    };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    ck_assert(!codegen_c(module, &options, &set, &result));
    ck_assert(expect_error(ctx, DIAG_TOO_BIG, "the arena would take 2400000000 bytes"));
    output_abort(&set);
    module_free(module);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_files");
    TCase *tcase = tcase_create("codegen_files");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, every_misuse_has_a_return_code);
    tcase_add_test(tcase, overlaps_are_found_under_guard);
    tcase_add_test(tcase, the_header_says_what_goes_in_and_out);
    tcase_add_loop_test(tcase, names_do_not_make_lines_long, 0, 2);
    tcase_add_test(tcase, the_arena_is_aligned_to_vectors);
    tcase_add_test(tcase, weights_are_inline_or_in_files);
    tcase_add_test(tcase, large_weights_are_split);
    tcase_add_test(tcase, equal_constants_are_stored_once);
    tcase_add_test(tcase, the_json_describes_what_was_made);
    tcase_add_test(tcase, tensors_beyond_what_an_int_counts_are_refused);
    tcase_add_test(tcase, an_arena_beyond_what_a_target_addresses_is_refused);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
