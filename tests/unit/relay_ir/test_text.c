#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/text.h"
#include "relay_ir/verify.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

/* --- texts that are already in the printed form ----------------------------------------------- */

static const char *const printed[] = {
    /* what is known of the numbers */
    "module opset 0\n\n"
    "fn main(%x: (1,2) f32 calibrated(min=-1.5, max=6, threshold=5.9), %q: (2,3) u4 "
    "scaled(axis=1, scale=[1, ...], zero=[1, 2, 15]), %f: (3) afp<3,2,7> scaled(scale=0.5)) -> "
    "(%y, %c) {\n"
    "  const @w : (2,2) f4e2m1 blocks(32, scale=[0.5, 4]) = [0x07, ...]\n"
    "  %y = nn.dense(%x, @w) {out_dtype=f32} : (1,2) f32 calibrated(min=-3, max=7, threshold=7)\n"
    "  %c = copy(%q) : (2,3) u4 scaled(axis=1, scale=[1, ...], zero=[1, 2, 15])\n"
    "}\n",

    /* nothing but a view of the input */
    "module opset 0\n\n"
    "fn main(%x: (2,3) f32) -> (%x) {\n"
    "}\n",

    /* scalars, empty tensors, the results' own names, a result twice */
    "module opset 17 producer \"trainer 1.0\"\n\n"
    "fn main(%a: () f32, %b: (0,3) i64) -> (%s as \"sum\", %s as \"again\", %b) {\n"
    "  const @half : () f32 = [0.5]\n"
    "  %s = add(%a, @half) : () f32\n"
    "}\n",

    /* every kind of attribute, absent inputs, several outputs */
    "module opset 13\n\n"
    "fn main(%x: (1,4,6,6) f32, %w: (1,9,5) f32, %r: (1,9,3) f32, %seq: (2,1,5) f32) -> "
    "(%p0, %c, %m, %g, %gh) {\n"
    "  %p0, %p1 = split(%x) {axis=1, sizes=[1,3]} : (1,1,6,6) f32, (1,3,6,6) f32\n"
    "  %c = cast(%p1) {dtype=i32, saturate=true} : (1,3,6,6) i32\n"
    "  %m = mean(%x) {axis=[2,3], keepdims=true} : (1,4,1,1) f32\n"
    "  %l = nn.leaky_relu(%m) {alpha=0.100000001, beta=0} : (1,4,1,1) f32\n"
    "  %inf = clip(%l) {a_min=-inf, a_max=6} : (1,4,1,1) f32\n"
    "  %g, %gh = nn.gru(%seq, %w, %r, _, _, _) {hidden_size=3, direction=\"forward\", "
    "activations=\"Sigmoid,Tanh\", clip=0, linear_before_reset=false, input_forget=false, "
    "activation_alpha=[0,0], activation_beta=[0,0], batch_major=false} : (2,1,1,3) f32, (1,1,3) "
    "f32\n"
    "}\n",

    /* names that need quotes, in every place of a name */
    "module opset 0 producer \"a\\x5Cx\"\n\n"
    "fn main(%\"in put\": (2) f32) -> (%\"y(\" as \"\\x22\") {\n"
    "  const @\"c:\" : (2) f32 = [1, 2]\n"
    "  %\"y(\" = add(%\"in put\", @\"c:\") : (2) f32  from Add \"node \\x0A 1\" #3 + \"strange "
    "op\" #4\n"
    "}\n",

    /* names of TensorFlow and PyTorch as they are */
    "module opset 0\n\n"
    "fn main(%serving_default_x:0: (2) f32) -> (%model/relu.1/Relu:0) {\n"
    "  %model/relu.1/Relu:0 = nn.relu(%serving_default_x:0) : (2) f32  from Relu\n"
    "}\n",

    /* region functions: before main or behind it, and regions that call regions */
    "module opset 0\n\n"
    "fn main(%x: (2) f32) -> (%y) {\n"
    "  %y = call r1(%x) : (2) f32  from Relu \"a\" #0 + Exp #1\n"
    "}\n\n"
    "fn r1(%x: (2) f32) -> (%y) compiler \"c\" composite \"c.relu\" {\n"
    "  %y = call \"r 2\"(%x) : (2) f32\n"
    "}\n\n"
    "fn \"r 2\"(%x: (2) f32) -> (%y) compiler \"dnnl\" {\n"
    "  %y = nn.relu(%x) : (2) f32  from Relu \"a\" #0\n"
    "}\n",

    /* elements of every type; NaN by its bits */
    "module opset 0\n\n"
    "fn main() -> (@f, @n, @d, @h, @b, @i, @l, @u, @z, @q, @many, @none) {\n"
    "  const @f : (4) f32 = [0.1, -0, inf, 3.4028235e+38]\n"
    "  const @n : (3) f32 = [nan, 0x7fc00001, -nan]\n"
    "  const @d : (3) f64 = [0.1, 0.30000000000000004, 4.94066e-324]\n"
    "  const @h : (2) f16 = [65504, 5.96046e-08]\n"
    "  const @b : (2) bf16 = [1, 3.38953e+38]\n"
    "  const @i : (2) i8 = [-128, 127]\n"
    "  const @l : (2) i64 = [-9223372036854775808, 9223372036854775807]\n"
    "  const @u : (2) u64 = [0, 18446744073709551615]\n"
    "  const @z : (3) bool = [0, 1, 0x02]\n"
    "  const @q : (2) f8e4m3 = [0x7e, 0xff]\n"
    "  const @many : (1000,3) f32 = [-2.5, ...]\n"
    "  const @none : (0) f32 = []\n"
    "}\n",
};

START_TEST(printed_text_is_parsed_and_printed_the_same)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_parse(ctx, printed[_i], NULL, false);
    struct str text = { .arena = &ctx->perm };

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_msg(module_verify(module, "parse"), "%s", expect_text(ctx));
    module_print(module, &text);
    ck_assert_str_eq(str_text(&text), printed[_i]);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- texts as a person writes them ------------------------------------------------------------ */

static const struct {
    const char *loose, *printed;
} loose[] = {
    { "fn main ( %x : ( 2 , 3 ) f32 ) -> ( %y ) { // the head is optional\n"
      "\n"
      "// a comment\n"
      "\tconst @w : (3) f32 = [ 1 , 2.50 , 0x40400000 ] // payload\r\n"
      "%y=add(%x,@w):(2,3) f32 from Add#1// tail\n"
      "  }  ",
      "module opset 0\n\n"
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (3) f32 = [1, 2.5, 3]\n"
      "  %y = add(%x, @w) : (2,3) f32  from Add #1\n"
      "}\n" },
    { "fn r(%x: (1) f32) -> (%x) {\n}\nfn main(%x: (1) f32) -> (%y) {\n"
      "  %y = call r(%x) : (1) f32\n}\n",
      "module opset 0\n\n"
      "fn main(%x: (1) f32) -> (%y) {\n  %y = call r(%x) : (1) f32\n}\n\n"
      "fn r(%x: (1) f32) -> (%x) {\n}\n" },
};

START_TEST(spaces_comments_and_order_are_free)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_parse(ctx, loose[_i].loose, NULL, false);
    struct str text = { .arena = &ctx->perm };

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    module_print(module, &text);
    ck_assert_str_eq(str_text(&text), loose[_i].printed);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- constants by checksum -------------------------------------------------------------------- */

static const char big[] = "fn main(%x: (20) f32) -> (%y) {\n"
                          "  const @w : (20) f32 = crc32:00000000\n"
                          "  const @v : (20) f32 = crc32:00000001\n"
                          "  %s = add(%x, @w) : (20) f32\n"
                          "  %y = add(%s, @v) : (20) f32\n"
                          "}\n";

START_TEST(big_constants_come_back_from_the_module_that_has_them)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, big, 1), *again;
    const char *text = graph_text(module, true);

    ck_assert(strstr(text, "crc32:") != NULL);
    again = module_parse(ctx, text, module, false);
    ck_assert_msg(again != NULL, "%s", expect_text(ctx));
    ck_assert_str_eq(graph_text(again, true), text);
    ck_assert_ptr_eq(again->main->constants->data, module->main->constants->data);
    module_free(again);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(a_constant_with_an_unknown_checksum_is_an_error)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, big, 1);

    ck_assert_ptr_null(module_parse(ctx, big, NULL, false));
    ck_assert(expect_error(ctx, DIAG_IR_TEXT, "line 2, column 31: no payload with this type"));
    ck_assert_ptr_null(module_parse(ctx, big, module, false));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(random_bits_of_every_type_survive)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_new(ctx), *again;
    uint64_t bits = 88172645463325252u;

    for (enum dtype dtype = DTYPE_NONE + 1; dtype < DTYPE_COUNT; dtype++)
        for (int i = 0; i < 40; i++) {
            const struct type type = graph_type(ctx, dtype, 16);
            unsigned char *data = constant_alloc(module->main, &type);

            for (size_t j = 0; j < type_bytes(&type); j++) {
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                data[j] = graph_code(&type, (unsigned char)bits);
            }
            result_add(module->main, constant_new(module->main, "c", &type, data), "c");
        }
    again = module_parse(ctx, graph_text(module, true), NULL, false);
    ck_assert_msg(again != NULL, "%s", expect_text(ctx));
    for (struct value *a = module->main->constants, *b = again->main->constants; a;
         a = a->next, b = b->next) {
        const struct tensor one = value_tensor(a), two = value_tensor(b);

        ck_assert_msg(tensor_equal(&one, &two), "%s", a->name);
    }
    module_free(again);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- the manual ------------------------------------------------------------------------------- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    size_t n;

    ck_assert_msg(file != NULL, "%s cannot be opened: tests run in the root of the repository",
                  path);
    n = fread(text, 1, (1 << 16) - 1, file);
    ck_assert(n > 0 && feof(file));
    fclose(file);
    return text;
}

/* Every block that is fenced without a language is a module in the printed form, though the head
 * may be left out. */
START_TEST(the_examples_of_the_manual_are_parsed_and_printed_the_same)
{
    static const char head[] = "module opset 0\n\n";
    char *manual = read_file("docs/design/ir.md");
    int n = 0;

    for (char *at = strstr(manual, "\n```"); at; at = strstr(at + 1, "\n```")) {
        char *start = strchr(at + 1, '\n') + 1, *end = strstr(start, "```");
        struct ctx *ctx = ctx_new(NULL);

        ck_assert(end != NULL);
        if (start - at == 5) {
            const char *example =
                arena_printf(&ctx->perm, "%s%.*s", str_starts(start, "module") ? "" : head,
                             (int)(end - start), start);
            struct module *module = module_parse(ctx, example, NULL, true);

            ck_assert_msg(module != NULL, "%s", expect_text(ctx));
            ck_assert_str_eq(graph_text(module, false), graph_without_payloads(ctx, example));
            module_free(module);
            n++;
        }
        ctx_free(ctx);
        at = end;
    }
    ck_assert_int_ge(n, 5);
    free(manual);
}
END_TEST

/* --- errors ----------------------------------------------------------------------------------- */

#define MAIN "fn main(%x: (2) f32) -> (%y) {\n"

static const struct {
    const char *text, *error;
} wrong[] = {
    { "", "line 1, column 1: there is no function main" },
    { "fn f() -> () {\n}\n", "there is no function main" },
    { "module opset x\n", "line 1, column 14: expected a number, found 'x'" },
    { "module opset 99999999999999999999\n", "the number is too big" },
    { "garbage\nfn main() -> () {\n}\n", "line 1, column 1: expected 'fn', found 'garbage'" },
    { "fn main() -> () {\n}\nrest\n", "line 3, column 1: expected 'fn' or the end of the text" },
    { "fn main() -> () {\n}\nfn main() -> () {\n}\n",
      "line 3, column 8: function 'main' is defined twice" },
    { "fn main() -> () {\n", "expected '}', found the end of the line" },
    { "fn main() () {\n}\n", "line 1, column 11: expected '->', found '() {'" },
    { "fn main(%x: (2) f32, %x: (2) f32) -> () {\n}\n", "'x' is defined twice" },
    { "fn main(%x: (2) f33) -> () {\n}\n", "column 17: expected an element type such as f32" },
    { "fn main(%x: (-2) f32) -> () {\n}\n", "expected a number, found '-2)" },
    { "fn main(%x: (1,1,1,1,1,1,1,1,1) f32) -> () {\n}\n", "more than 8 dimensions" },
    { "fn main(%x: (99999999,99999999) f32) -> () {\n}\n", "in line 1 of the IR text" },
    { "fn main(%x: (2) f32) -> (%y) {\n}\n", "line 1, column 26: value 'y' is not defined" },
    { "fn main(%x: (2) f32) -> (@x) {\n}\n", "constant 'x' is not defined" },
    { MAIN "  %y = nn.rely(%x) : (2) f32\n}\n", "did you mean nn.relu?" },
    { MAIN "  %y = nn.relu(%z) : (2) f32\n}\n", "line 2, column 16: value 'z' is not defined" },
    { MAIN "  %y = nn.relu(_) : (2) f32\n}\n", "input 0 of nn.relu is missing" },
    { MAIN "  %y = nn.relu(%x, %x) : (2) f32\n}\n", "nn.relu has 2 inputs" },
    { MAIN "  %y, %z = nn.relu(%x) : (2) f32\n}\n", "nn.relu has 1 outputs, 2 are named" },
    { MAIN "  %x = nn.relu(%x) : (2) f32\n}\n", "line 2, column 5: 'x' is defined twice" },
    { MAIN "  %y = nn.relu(%x) : (3) f32\n}\n", "the text says (3) f32, inference gives (2) f32" },
    { MAIN "  %y = nn.relu(%x) :\n}\n", "expected '(', found the end of the line" },
    { MAIN "  %y = nn.relu(%x) : (2) f32 more\n}\n", "expected the end of the line, found 'more'" },
    { MAIN "  %y = return(%x) : (2) f32\n}\n", "return has 0 outputs" },
    { MAIN "  %y = mean(%x) {axis=[x], keepdims=true} : (1) f32\n}\n",
      "attribute 'axis' of reduce is malformed" },
    { MAIN "  %y = mean(%x) {axis=[0], keepdims=true : (1) f32\n}\n", "expected '}'" },
    { MAIN "  %y = add(%x, %w) : (2) f32\n  const @w : (2) f32 = [1, 2]\n}\n",
      "'w' is not defined" },
    { MAIN "  const @w : (2) f32 = [1]\n}\n", "line 2, column 26: expected ',', found ']'" },
    { MAIN "  const @w : (2) f32 = [1, 2, 3]\n}\n", "expected ']', found ', 3]'" },
    { MAIN "  const @w : (3) f32 = [1, 2, ...]\n}\n", "only follow the first element" },
    { MAIN "  const @w : (1) i8 = [128]\n}\n", "expected an element of type i8, found '128]'" },
    { MAIN "  const @w : (1) u64 = [-1]\n}\n", "expected an element of type u64" },
    { MAIN "  const @w : (1) f8e4m3 = [1]\n}\n", "expected an element of type f8e4m3" },
    { MAIN "  const @w : (1) f32 = [0x123456789]\n}\n", "expected an element of type f32" },
    { MAIN "  const @w : (100000,10000) f32 = [0, ...]\n}\n", "is too big for the text" },
    { MAIN "  const @w : (1) f32 = sha:1\n}\n", "expected 'crc32:'" },
    { MAIN "  const @w : (1) f32 = crc32:12\n}\n", "checksum of 8 hexadecimal digits" },
    { MAIN "  const @\"a\\n\" : (1) f32 = [1]\n}\n", "an escape other than \\xNN" },
    { MAIN "  const @\"a : (1) f32 = [1]\n}\n", "the string has no closing quote" },
    { MAIN "  %y = call f(%x) : (2) f32\n}\n", "unknown function 'f'" },
    { MAIN "  %y = call main(%x) : (2) f32\n}\n", "a function may not call itself" },
    { MAIN "  %y = call f(%x) : (2) f32\n}\nfn f() -> () {\n}\n",
      "the function takes 0 values and gives 0" },
    { "fn main(%x: (4) f32) -> (%a) {\n"
      "  %a, %a = split(%x) {axis=0, sizes=[2,2]} : (2) f32, (2) f32\n}\n",
      "two outputs have the same name" },
};

START_TEST(errors_say_where_and_what_was_expected)
{
    struct ctx *ctx = ctx_new(NULL);

    ck_assert_ptr_null(module_parse(ctx, wrong[_i].text, NULL, false));
    for (struct diag *d = ctx->diags.first; d; d = d->next)
        if (strstr(d->message, wrong[_i].error) || (d->note && strstr(d->note, wrong[_i].error)) ||
            (d->help && strstr(d->help, wrong[_i].error)))
            goto found;
    ck_abort_msg("%s\ngives %s\nwanted %s", wrong[_i].text, expect_text(ctx), wrong[_i].error);
found:
    ctx_free(ctx);
}
END_TEST

/* --- mutations -------------------------------------------------------------------------------- */

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Changes a few bytes: another byte, one deleted, one doubled, or a digit or sign put in. */
static void mutate(char *text, size_t capacity, unsigned *seed)
{
    static const char useful[] = "0123456789-()[]{}%@,:=\"\\_. \nefx";

    for (unsigned i = 0, n = 1 + next_random(seed) % 3; i < n; i++) {
        const size_t length = strlen(text), at = next_random(seed) % (length + 1);
        const char c = useful[next_random(seed) % (sizeof useful - 1)];

        switch (next_random(seed) % 4) {
        case 0: memmove(text + at, text + at + (at < length), length - at + (at >= length)); break;
        case 1: text[at] = at < length ? c : '\0'; break;
        case 2: text[at] = at < length ? (char)(1 + next_random(seed) % 255) : '\0'; break;
        default:
            if (length + 2 < capacity) {
                memmove(text + at + 1, text + at, length - at + 1);
                text[at] = c;
            }
        }
    }
}

START_TEST(mutated_text_is_parsed_or_refused_but_never_crashes)
{
    enum { ROUNDS = 3000, CAPACITY = 4096 };
    unsigned seed = (unsigned)_i + 1;
    int parsed = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct ctx *ctx = ctx_new(NULL);
        char text[CAPACITY];
        struct module *module;

        ck_assert_uint_lt(strlen(printed[_i]), sizeof text);
        strcpy(text, printed[_i]);
        mutate(text, sizeof text, &seed);
        module = module_parse(ctx, text, NULL, true);
        if (module) {
            const char *once = graph_text(module, true);
            struct module *again = module_parse(ctx, once, module, false);

            parsed++;
            ck_assert_msg(module_verify(module, "parse"), "%s\n%s", text, expect_text(ctx));
            ck_assert_msg(again != NULL, "%s\n%s", once, expect_text(ctx));
            ck_assert_str_eq(graph_text(again, true), once);
            module_free(again);
        } else {
            ck_assert_int_gt(ctx->diags.n_errors, 0);
        }
        module_free(module);
        ctx_free(ctx);
    }
    ck_assert_int_gt(parsed, 0);
}
END_TEST

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, printed_text_is_parsed_and_printed_the_same, 0, N_ROWS(printed));
    tcase_add_loop_test(tests, spaces_comments_and_order_are_free, 0, N_ROWS(loose));
    tcase_add_test(tests, big_constants_come_back_from_the_module_that_has_them);
    tcase_add_test(tests, a_constant_with_an_unknown_checksum_is_an_error);
    tcase_add_test(tests, random_bits_of_every_type_survive);
    tcase_add_test(tests, the_examples_of_the_manual_are_parsed_and_printed_the_same);
    tcase_add_loop_test(tests, errors_say_where_and_what_was_expected, 0, N_ROWS(wrong));
    tcase_add_loop_test(tests, mutated_text_is_parsed_or_refused_but_never_crashes, 0,
                        N_ROWS(printed));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
