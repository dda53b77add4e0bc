/* NAME.h: what it says of inputs and outputs holds for C and C++11 programs, and the files of two
 * compilations do not mix. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/codegen.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

#define WARNINGS                                                                                   \
    "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wfloat-equal -Wundef "      \
    "-Wduplicated-branches -Wcast-align=strict -Werror"

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

/* All files of the graph in a folder of this name, as of a version of relayc. */
static void generate_by(const char *version, const char *folder, const char *text,
                        enum weights_form weights)
{
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;
    const struct codegen_options options = { .name = "net",
                                             .dir = temp_path(&dir, folder),
                                             .model_file = "net.onnx",
                                             .version = version,
                                             .model_sha256 = "00ff",
                                             .command = "",
                                             .weights = weights };

    ck_assert_msg(codegen_c(module, &options, &set, &result) && output_commit(&set), "%s",
                  expect_text(ctx));
    module_free(module);
}

static void generate(const char *folder, const char *text, enum weights_form weights)
{
    generate_by("1.2.3", folder, text, weights);
}

static int shell(const char *command)
{
    return system(arena_printf(&ctx->perm, "cd %s && %s", dir.path, command));
}

/* Zero point and scale that no power of two hides; 0.3f has no short hex. */
static const char codes[] =
    "fn main(%x: (2,3,4) i8 scaled(scale=0.3, zero=-3)) -> (%y) {\n"
    "  %y = transpose(%x) {axes=[0,2,1]} : (2,4,3) i8 scaled(scale=0.3, zero=-3)\n"
    "}\n";

static const char codes_program[] =
    "#include \"net.h\"\n"
    "#include <math.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#define CHECK(what) do { if (!(what)) { puts(#what); return 1; } } while (0)\n"
    "int main(void)\n"
    "{\n"
    "    static const int dims[NET_X_RANK] = NET_X_DIMS, strides[NET_Y_RANK] = NET_Y_STRIDES;\n"
    "    static NET_X_TYPE x[NET_X_LEN];\n"
    "    static NET_Y_TYPE y[NET_Y_LEN];\n"
    "    unsigned char arena[NET_ARENA_BYTES + 1];\n"
    "    CHECK(dims[0] == 2 && dims[1] == 3 && dims[2] == 4);\n"
    "    CHECK(strides[0] == 12 && strides[1] == 3 && strides[2] == 1);\n"
    "    CHECK(sizeof x == NET_X_BYTES && NET_X_ZERO_POINT == -3 && NET_STATE_BYTES == 0);\n"
    "    CHECK(!(NET_X_SCALE < 0.3f) && !(NET_X_SCALE > 0.3f));\n"
    "    CHECK(strcmp(NET_RELAYC_VERSION, \"1.2.3\") == 0);\n"
    "    CHECK(strcmp(NET_MODEL_SHA256, \"00ff\") == 0);\n"
    "    CHECK(net_quantize_x(0.0f) == -3 && net_quantize_x(0.3f) == -2);\n"
    "    CHECK(net_quantize_x(0.5f * NET_X_SCALE) == -3);\n" /* ties to even quotients */
    "    CHECK(net_quantize_x(1.5f * NET_X_SCALE) == -1);\n"
    "    CHECK(net_quantize_x(-1.5f * NET_X_SCALE) == -5);\n"
    "    CHECK(net_quantize_x(1e30f) == 127 && net_quantize_x(-1e30f) == -128);\n"
    "    CHECK(net_quantize_x(NAN) == 0 && net_quantize_x(INFINITY) == 127);\n"
    "    for (int code = -128; code < 128; code++)\n"
    "        CHECK(net_quantize_x(net_dequantize_y((int8_t)code)) == code);\n"
    "    x[4] = net_quantize_x(-3.0f);\n"
    "    CHECK(net_run(x, y, arena) == NET_OK && y[1] == -13);\n"
    "    return 0;\n"
    "}\n";

START_TEST(the_header_serves_c_and_cpp)
{
    generate("a", codes, WEIGHTS_AUTO);
    temp_file(&dir, "a/main.c", codes_program, strlen(codes_program));
    ck_assert_int_eq(shell("cd a && gcc -std=c99 " WARNINGS " -c net.c && "
                           "gcc -std=c99 " WARNINGS " -o main main.c net.o -lm && ./main"),
                     0);
    ck_assert_int_eq(shell("cd a && cp main.c main.cc && g++ -std=c++11 " WARNINGS
                           " -o main main.cc net.o -lm && ./main"),
                     0);
}
END_TEST

/* A version that prints the same changes a line of NAME.h and NAME.json. */
START_TEST(a_version_is_one_line)
{
    generate_by("1.2.3", "old", codes, WEIGHTS_FILE);
    generate_by("1.2.4", "new", codes, WEIGHTS_FILE);
    ck_assert_int_eq(shell("cmp old/net.c new/net.c && "
                           "diff old/net.h new/net.h >diff; test $(grep -c '^>' diff) = 1 && "
                           "grep -q '> #define NET_RELAYC_VERSION \"1.2.4\"' diff"),
                     0);
}
END_TEST

/* Capitals make one name of two, and names of the header's own. */
START_TEST(macros_have_names_of_their_own)
{
    static const char text[] =
        "fn main(%a: (2) f32, %A: (3) f32, %arena: (4) f32) -> (%b, %B, %c) {\n"
        "  %b = nn.relu(%a) : (2) f32\n"
        "  %B = nn.relu(%A) : (3) f32\n"
        "  %c = nn.relu(%arena) : (4) f32\n"
        "}\n";
    static const char program[] =
        "#include \"net.h\"\n"
        "int main(void)\n"
        "{\n"
        "    return !(NET_A_LEN == 2 && NET_A_2_LEN == 3 && NET_ARENA_2_LEN == 4 &&\n"
        "             NET_ARENA_2_BYTES == 16 && NET_ARENA_BYTES == 0 && NET_B_2_BYTES == 12);\n"
        "}\n";

    generate("a", text, WEIGHTS_AUTO);
    temp_file(&dir, "a/main.c", program, strlen(program));
    ck_assert_int_eq(shell("cd a && gcc -std=c99 " WARNINGS " -o main main.c net.c && ./main"), 0);
}
END_TEST

#define SCALE_BY(shape, numbers)                                                                   \
    "fn main(%x: " shape " f32) -> (%y) {\n"                                                       \
    "  const @w : (3) f32 = [" numbers "]\n"                                                       \
    "  %y = multiply(%x, @w) : " shape " f32\n"                                                    \
    "}\n"

static bool compiles(void)
{
    return shell("cd mixed && gcc -std=c99 -c net.c net_weights.c 2>../errors") == 0;
}

static bool compile_says(const char *what)
{
    return !compiles() &&
           shell(arena_printf(&ctx->perm, "grep -q '%s are of two compilations' errors", what)) ==
               0;
}

START_TEST(files_of_two_compilations_do_not_mix)
{
    generate("a", SCALE_BY("(2,3)", "1,2,3"), WEIGHTS_FILE);
    generate("retrained", SCALE_BY("(2,3)", "1,2,4"), WEIGHTS_FILE);
    generate("larger", SCALE_BY("(4,3)", "1,2,3"), WEIGHTS_FILE);
    ck_assert_int_eq(shell("cp -r a mixed"), 0);
    ck_assert(compiles());
    ck_assert_int_eq(shell("cp retrained/net_weights.c mixed"), 0);
    ck_assert(compile_says("net.h and net_weights.c"));
    ck_assert_int_eq(shell("cp a/* mixed && cp retrained/net.h mixed"), 0);
    ck_assert(compile_says("net.h and net_weights.h"));
    ck_assert_int_eq(shell("cp a/* mixed && cp larger/net.h mixed"), 0);
    ck_assert(compile_says("net.h and net.c"));
    ck_assert_int_eq(shell("cp a/* mixed && cp larger/net.c mixed"), 0);
    ck_assert(compile_says("net.h and net.c"));
    /* A retrained network's code is the same. */
    ck_assert_int_eq(shell("cp retrained/* mixed && cp a/net.c mixed"), 0);
    ck_assert(compiles());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interface");
    TCase *tcase = tcase_create("interface");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, the_header_serves_c_and_cpp);
    tcase_add_test(tcase, a_version_is_one_line);
    tcase_add_test(tcase, macros_have_names_of_their_own);
    tcase_add_test(tcase, files_of_two_compilations_do_not_mix);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
