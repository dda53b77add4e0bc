/* Names of the model in generated C: identifiers, comments, and everything hostile. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

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
    tcase_add_test(tcase, generation_is_deterministic);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
