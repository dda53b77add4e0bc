/* Names of the model in generated C: identifiers, comments, and everything hostile. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/plan/reserve.h"
#include "codegen_c/text/names.h"
#include "tests/support/run_generated.h"

static const struct {
    const char *text, *identifier;
} identifiers[] = {
    { "conv1", "conv1" },
    { "conv1.weight", "conv1_weight" },
    { "/layer1/conv1/Conv_output_0", "layer1_conv1_Conv_output_0" },
    { "a b\tc", "a_b_c" },
    { "a__b", "a__b" },
    { "_hidden", "hidden" },
    { "private", "private_" },
    { "1x1", "n1x1" },
    { "", "n" },
    { "___", "n" },
    { "\xc3\xbc"
      "ber",
      "ber" },
    { "\xe9", "n" },
    { "int", "int_" },
    { "class", "class_" },
    { "memcpy", "memcpy_" },
    { "uint8_t", "uint8_t_" },
    { "x;}int main(void){", "x_int_main_void" },
    { "*/ evil /*", "evil" },
    { "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij",
      "abcdefghijabcdefghijabcdefghijabcdefghijabcdefgh" },
};

START_TEST(any_text_becomes_an_identifier)
{
    struct arena arena = { NULL };

    ck_assert_str_eq(c_identifier(&arena, identifiers[_i].text), identifiers[_i].identifier);
    arena_release(&arena);
}
END_TEST

START_TEST(an_identifier_stays_as_it_is)
{
    struct arena arena = { NULL };
    const char *once = c_identifier(&arena, identifiers[_i].text);

    ck_assert_str_eq(c_identifier(&arena, once), once);
    arena_release(&arena);
}
END_TEST

static const struct {
    const char *text, *safe;
} comments[] = {
    { "conv1", "conv1" },          { "*/", "* /" },
    { "**/ /* /", "** / / *..." }, { "?\?/", "? ?/" },
    { "a\\\nb", "a__b" },          { "tab\tbell\a", "tab_bell..." },
    { "\xc3\xbc", "__" },          { "0123456789", "01234567..." },
};

START_TEST(any_text_is_safe_in_a_comment)
{
    struct arena arena = { NULL };

    ck_assert_str_eq(comment_safe(&arena, comments[_i].text, 8), comments[_i].safe);
    arena_release(&arena);
}
END_TEST

START_TEST(every_name_is_handed_out_once)
{
    struct arena arena = { NULL };
    struct names names;

    names_init(&names, &arena);
    names_reserve(&names, "x");
    ck_assert_str_eq(names_unique(&names, "x"), "x_2");
    ck_assert_str_eq(names_unique(&names, "x"), "x_3");
    ck_assert_str_eq(names_unique(&names, "x_2"), "x_2_2");
    ck_assert_str_eq(names_unique(&names, "y"), "y");
    arena_release(&arena);
}
END_TEST

/* Names that mean something in C, in the places where a model can put them. */
static const char *const hostile[] = {
    "arena",   "base", "region_y",     "net_run", "NET_OK", "memcpy",           "uintptr_t", "x",
    "y",       "void", "*/ int x; /*", "?\?/",    "\\x5C",  "// comment \\x5C", "%s%n",      "NULL",
    "scratch", "i",    "code",
};

static const char *hostile_graph(struct arena *arena, const char *name)
{
    return arena_printf(
        arena,
        "fn main(%%\"%s\": (2,3) f32) -> (%%\"%s 3\", %%\"%s 2\") {\n"
        "  const @\"%s 4\" : (3) f32 = [0.5,0.25,0.125]\n"
        "  %%\"%s 2\" = transpose(%%\"%s\") {axes=[1,0]} : (3,2) f32  from Tr \"%s\"\n"
        "  %%\"%s 5\" = transpose(%%\"%s 2\") {axes=[1,0]} : (2,3) f32\n"
        "  %%\"%s 3\" = multiply(%%\"%s 5\", @\"%s 4\") : (2,3) f32\n}\n",
        name, name, name, name, name, name, name, name, name, name, name, name);
}

START_TEST(names_of_c_and_worse_do_no_harm)
{
    struct arena arena = { NULL };

    generated_check(&(struct generated_case){
        .text = hostile_graph(&arena, hostile[_i]), .tolerance = 1e-6, .step = _i % 2 == 1 });
    arena_release(&arena);
}
END_TEST

static const struct {
    const char *text, *names; /* with a blank behind each */
} definitions[] = {
    { "#define LANES 4\n#define LOAD(i) at[i]\n  #define MORE\n#undef LOAD\n", "LANES MORE " },
    { "#define FUSE_${most}(a) a\n", "FUSE_2 FUSE_4 FUSE_8 FUSE_16 FUSE_32 " },
    { "#define ${fn} 1\nstatic int ${fn}(int n)\n{\n    int local = n;\n}\n", "" },
    { "static inline WIDE __attribute__((unused)) int f(int n)\n", "f " },
    { "APART float g(float v)\n{\n    return h(v);\n}\n", "g " },
    { "static const int table[] = { 1 };\n", "table " },
    { "typedef float v${n} __attribute__((aligned(4)));\ntypedef a b, c;\n"
      "typedef struct { d e, f; } g;\n",
      "v2 v4 v8 v16 v32 b c g " },
    { "enum { A = 1, B, C = A > 2 ? A : 3 };\n    enum { INSIDE = 2 };\n", "A B C " },
    { "/* static int x(void); */\n * text(with brackets)\n//#if f(\n", "" },
};

START_TEST(definitions_of_templates_are_found)
{
    struct arena arena = { NULL };
    struct map names = { .arena = &arena };
    struct str out = { .arena = &arena };

    find_defined_names(&arena, definitions[_i].text, &names);
    for (size_t i = 0; i < names.n; i++)
        str_printf(&out, "%s ", names.entries[i].key);
    ck_assert_str_eq(str_text(&out), definitions[_i].names);
    arena_release(&arena);
}
END_TEST

/* Tensors that are called as what templates and helpers define: with -Wshadow there is no clash. */
START_TEST(names_of_templates_are_taken)
{
    static const char text[] = "fn main(%exp_f32: (3,40) f32) -> (%GEMV, %DOT_PIXELS) {\n"
                               "  const @LANES : (30,40) f32 = crc32:00000001\n"
                               "  %vector_f32 = exp(%exp_f32) : (3,40) f32\n"
                               "  %tanh_f32 = transpose(%vector_f32) {axes=[1,0]} : (40,3) f32\n"
                               "  %GEMV = tanh(%tanh_f32) : (40,3) f32\n"
                               "  %DOT_PIXELS = nn.dense(%vector_f32, @LANES) : (3,30) f32\n"
                               "}\n";
    static const char *const others[] = { "exp_f32_2", "GEMV_2", "DOT_PIXELS_2", "tanh_f32_2" };
    const struct generated_case row = { .text = text, .tolerance = 1e-5 };
    struct ctx *ctx = ctx_new(NULL);
    const char *c = generated_text(ctx, &row, ".c");

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(strstr(c, others[i]) != NULL, "no %s", others[i]);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

START_TEST(generation_is_deterministic)
{
    struct arena arena = { NULL };
    const struct generated_case row = { .text = hostile_graph(&arena, "v") };
    static const char *const suffixes[] = { ".c", ".h", ".json" };
    struct ctx *ctx = ctx_new(NULL);

    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(generated_text(ctx, &row, suffixes[i]),
                         generated_text(ctx, &row, suffixes[i]));
    ctx_free(ctx);
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_names");
    TCase *tcase = tcase_create("codegen_names");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, any_text_becomes_an_identifier, 0,
                        (int)(sizeof identifiers / sizeof *identifiers));
    tcase_add_loop_test(tcase, an_identifier_stays_as_it_is, 0,
                        (int)(sizeof identifiers / sizeof *identifiers));
    tcase_add_loop_test(tcase, any_text_is_safe_in_a_comment, 0,
                        (int)(sizeof comments / sizeof *comments));
    tcase_add_test(tcase, every_name_is_handed_out_once);
    tcase_add_loop_test(tcase, names_of_c_and_worse_do_no_harm, 0,
                        (int)(sizeof hostile / sizeof *hostile));
    tcase_add_loop_test(tcase, definitions_of_templates_are_found, 0,
                        (int)(sizeof definitions / sizeof *definitions));
    tcase_add_test(tcase, names_of_templates_are_taken);
    tcase_add_test(tcase, generation_is_deterministic);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
