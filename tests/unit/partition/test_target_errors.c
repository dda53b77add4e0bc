#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/target.h"
#include "tests/support/expect.h"

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

static const char *some_files(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "a.tmpl") == 0 || strcmp(name, "a.h") == 0 ? "text\n" : NULL;
}

/* JSON with ' for " and a ~ in front of every place that an error must name, in the order in which
 * the errors are given; the messages begin behind "t.json:LINE:COLUMN: ". */
struct bad {
    const char *json;
    const char *messages[3];
    const char *help; /* of one of them; NULL = any */
};

#define TARGET(more) "{'name': 't', 'format': 'c'" more "}"
#define RELU "'name': 'r', 'pattern': 'relu(x)', 'template': 'a.tmpl'"
#define CONV "'name': 'k', 'pattern': 'conv2d(x, w:const) -> relu?', 'template': 'a.tmpl'"
#define ROWS(rows) TARGET(",\n 'composites': [" rows "]")

static const struct bad bad[] = {
    /* syntax */
    { "{'name': 't',~}", { "malformed JSON at '}'" }, "commas behind the last" },
    { "{'name': 't'\n  ~'format': 'c'}", { "malformed JSON at '\\x22'" }, NULL },
    { "{~name: 't'}", { "malformed JSON at 'n'" }, NULL },
    { "{'name': 't', 'rates': { }~", { "the text ends" }, NULL },
    { "{'name': 't',\n ~, }", { "malformed JSON at ','" }, NULL },
    { "{'name': 't', 'limits': {'max_macs': [1, ~x]}}", { "malformed JSON at 'x'" }, NULL },
    { "{'name': ~tt}", { "malformed JSON at 't'" }, NULL },
    { "{'name': 't'\n~", { "malformed JSON: the text ends too early" }, NULL },
    { "~", { "malformed JSON: the text ends too early" }, NULL },
    { "{'name': 't'} ~x", { "malformed JSON at 'x'" }, NULL },
    { "{'name': 't'} ~// a target", { "malformed JSON at '/'" }, "comments" },
    { "~[]", { "found a list, expected an object" }, NULL },
    { "~17", { "found a number, expected an object" }, NULL },
    { "{'name': 't', 'description': ~'a\\nb'}", { "a line break or another control" }, NULL },
    { "{'name': 't', 'description': ~'\\u001b[31m'}", { "control character" }, NULL },
    { "{'name': 't', 'description': ~'a\\u0000b'}", { "control character" }, NULL },

    /* keys */
    { TARGET(", ~'composits': []"), { "unknown key 'composits'" }, "'composites'" },
    { TARGET(", ~'zzzzzzzz': []"), { "unknown key 'zzzzzzzz'" }, "there are name, description" },
    { TARGET(",\n ~'name': 'u'"), { "the key 'name' is given twice" }, "first in line 1" },
    { ROWS("{" RELU ", ~'patern': 'x'}"), { "unknown key 'patern'" }, "'pattern'" },
    { TARGET(", 'limits': {~'max_mac': 1}"), { "unknown key 'max_mac'" }, "'max_macs'" },
    { TARGET(", 'rates': {~'launch': 1}"), { "unknown key 'launch'" }, NULL },
    { TARGET(", 'host': {~'flag': ''}"), { "unknown key 'flag'" }, "'flags'" },

    /* types */
    { TARGET(", 'composites': ~{}"), { "'composites' is an object, expected a list" }, NULL },
    { TARGET(", 'composites': [~17]"), { "found a number, expected an object" }, NULL },
    { TARGET(", 'description': ~null"), { "'description' is null, expected text" }, NULL },
    { TARGET(", 'limits': ~[]"), { "'limits' is a list, expected an object" }, NULL },
    { TARGET(", 'limits': {'max_macs': ~'4'}"), { "is text, expected a whole number" }, NULL },
    { TARGET(", 'limits': {'max_onchip_bytes': 1, 'weights_onchip': ~1}"),
      { "'weights_onchip' is a number, expected true or false" },
      NULL },
    { TARGET(", 'rates': {'call_ns': ~true}"), { "'call_ns' is true, expected a number" }, NULL },
    { ROWS("{" RELU ", 'where': ~'x.rank == 4'}"), { "'where' is text, expected a list" }, NULL },
    { ROWS("{" RELU ", 'where': [~3]}"), { "found a number, expected text" }, NULL },
    { ROWS("{" RELU ", 'let': ~[]}"), { "'let' is a list, expected an object" }, NULL },
    { ROWS("{" RELU ", 'let': {'a': ~3}}"), { "'a' is a number, expected text" }, NULL },
    { ROWS("{" RELU ", 'cost_ns': ~3}"), { "'cost_ns' is a number, expected text" }, NULL },

    /* names */
    { "~{'format': 'c'}", { "a target has no name" }, NULL },
    { "{'name': ~''}", { "'' is not a name for a target" }, NULL },
    { "{'name': ~'9t'}", { "'9t' is not a name for a target" }, "no digit first" },
    { "{'name': ~'my-npu'}", { "'my-npu' is not a name" }, NULL },
    { "{'name': ~'weights'}", { "a target cannot be called 'weights'" }, NULL },
    { "{'name': ~'weights_2'}", { "a target cannot be called 'weights_2'" }, NULL },
    { "{'name': ~'run'}", { "a target cannot be called 'run'" }, NULL },
    { ROWS("~{'pattern': 'relu(x)', 'template': 'a.tmpl'}"), { "a composite has no name" }, NULL },
    { ROWS("{'name': ~'a.b', 'pattern': 'relu(x)', 'template': 'a.tmpl'}"),
      { "'a.b' is not a name for a composite" },
      NULL },
    { ROWS("{" RELU "},\n{'name': ~'r', 'pattern': 'tanh(x)', 'template': 'a.tmpl'}"),
      { "'r' is already the name of the composite in line 2" },
      NULL },
    { "{'name': 'c', 'composites': ~[{" RELU "}]}", { "the target c is the host" }, NULL },

    /* formats, types, operators */
    { "{'name': 't', 'format': ~'cc'}", { "unknown format 'cc'" }, "there are c, extern" },
    { "{'name': 't', 'format': ~'elf'}",
      { "unknown format 'elf'" },
      "there are c, extern, stream, json" },
    { TARGET(", 'keep_on_host': ['nn.relu', 'relu', ~'rellu']"),
      { "unknown operator 'rellu'" },
      "did you mean 'relu'?" },
    { TARGET(", 'rates': {'ns_per_mac': {'f33': ~1}}"),
      { "unknown element type 'f33'" },
      "did you mean" },

    /* numbers */
    { TARGET(", 'limits': {'max_macs': ~-1}"),
      { "'max_macs' is -1, expected a whole number" },
      NULL },
    { TARGET(", 'limits': {'max_macs': ~1.5}"),
      { "'max_macs' is 1.5, expected a whole number" },
      NULL },
    { TARGET(", 'limits': {'max_macs': ~1e400}"), { "'max_macs' is inf" }, NULL },
    { TARGET(", 'limits': {'max_macs': ~9007199254740994}"), { "0 to 2^53" }, NULL },
    { TARGET(", 'rates': {'call_ns': ~-0.5}"), { "'call_ns' is -0.5" }, NULL },
    { TARGET(", 'rates': {'launch_ns': ~1e999}"), { "'launch_ns' is inf" }, NULL },
    { TARGET(", 'rates': {'ns_per_mac': {'f32': ~-1}}"), { "'f32' is -1" }, NULL },
    { TARGET(", 'limits': {'max_macs': 10, 'min_macs': ~11}"),
      { "min_macs 11 exceeds max_macs 10" },
      NULL },
    { TARGET(", 'limits': {'weights_onchip': ~true}"),
      { "weights_onchip has no effect without max_onchip_bytes" },
      NULL },
    { TARGET(
          ", 'limits': {'weights_onchip': true, 'max_onchip_bytes': 9, 'max_weight_bytes': ~10}"),
      { "max_weight_bytes is 10, but" },
      NULL },

    /* files */
    { ROWS("~{'name': 'r', 'pattern': 'relu(x)'}"), { "needs a template" }, NULL },
    { ROWS("{'name': 'r', 'pattern': 'relu(x)', 'template': ~'b.tmpl'}"),
      { "cannot read 'b.tmpl': no such file" },
      "in the folder of t.json" },
    { ROWS("{'name': 'r', 'pattern': 'relu(x)', 'template': ~'../a.tmpl'}"),
      { "'../a.tmpl' is not a plain file name" },
      "in the target's folder itself" },
    { ROWS("{'name': 'r', 'pattern': 'relu(x)', 'template': ~'/etc/passwd'}"),
      { "'/etc/passwd' is not a plain file name" },
      NULL },
    { "{'name': 't', 'format': 'json', 'composites': [{'name': 'r', 'pattern': 'relu(x)', "
      "~'template': 'a.tmpl'}]}",
      { "a target of format json has no templates" },
      NULL },
    { TARGET(", 'prologue': ~'p'"), { "cannot read 'p'" }, NULL },
    { TARGET(", 'region': ~'p'"), { "cannot read 'p'" }, NULL },
    { TARGET(", 'headers': ['a.h', ~'b.h']"), { "cannot read 'b.h'" }, NULL },
    { TARGET(", 'headers': ['a.h', ~'a.h']"), { "'a.h' is given twice" }, NULL },
    { TARGET(", 'headers': [~'-o.h']"), { "'-o.h' is not a plain file name" }, NULL },
    { TARGET(", 'headers': [~'']"), { "'' is not a plain file name" }, NULL },
    { TARGET(", 'host': {'files': [~'b.c']}"), { "cannot read 'b.c'" }, NULL },
    { TARGET(", 'host': {'flags': ~'-lm; rm x'}"), { "letters, digits, blanks" }, NULL },
    { TARGET(", 'plugin': ~'lib.so'"), { "cannot use 'lib.so': no such file" }, NULL },
    { TARGET(", 'plugin': ~'/lib.so'"), { "'/lib.so' is not a plain file name" }, NULL },

    /* patterns and expressions */
    { ROWS("~{'name': 'r', 'template': 'a.tmpl'}"), { "this composite has no pattern" }, NULL },
    { ROWS("{'name': 'r', 'pattern': '~rellu(x)', 'template': 'a.tmpl'}"), { "rellu" }, "relu" },
    { ROWS("{" RELU ", 'where': ['x.rank == ~']}"), { "" }, NULL },
    { ROWS("{" RELU ", 'where': ['x.rank == 4 && ~y.rank == 4']}"),
      { "the pattern captures nothing under 'y'" },
      "there are" },
    { ROWS("{" RELU ", 'where': ['x.dtype == \\'f32\\' && x.shape != [1,2] && ~rel.rank == 4']}"),
      { "the pattern captures nothing under 'rel'" },
      "relu" },
    { ROWS("{" RELU ", 'where': ['x.\\u0072ank == 4 && ~y.rank == 4']}"),
      { "the pattern captures nothing under 'y'" },
      NULL },
    { ROWS("{" RELU ", 'where': ['~x.dims[0] == 4']}"), { "x has no field 'dims'" }, "'dim'" },
    { ROWS("{" CONV ", 'where': ['~x.groups == 4']}"), { "x has no field 'groups'" }, NULL },
    { ROWS("{" CONV ", 'where': ['~conv2d.group == 1']}"),
      { "conv2d has no field 'group'" },
      "did you mean 'groups'? conv2d has strides, padding" },
    /* min and max are fields of constants: of clip they are called otherwise */
    { ROWS("{'name': 'r', 'pattern': 'clip(x)', 'template': 'a.tmpl', "
           "'where': ['~clip.min == 0']}"),
      { "clip has no field 'min'" },
      "clip has a_min, a_max, op, dtype" },
    { ROWS("{" RELU ", 'where': ['x.dtype == ~float32']}"),
      { "'float32' is not an element type" },
      "did you mean 'f32'?" },
    { ROWS("{" RELU ", 'where': ['~bfloat16 != x.dtype || x.rank == 1 && x.dtype == ~s8']}"),
      { "'bfloat16' is not an element type", "'s8' is not an element type" },
      "'bf16'" },
    { ROWS("{" RELU ", 'where': ['~\\'f8e4m\\' == x.dtype']}"),
      { "'f8e4m' is not an element type" },
      "'f8e4m3'" },
    { ROWS("{" RELU ", 'where': ['out.dtype == ~quite_another']}"),
      { "'quite_another' is not an element type" },
      "there are afp, bf16, bool" },
    { ROWS("{" CONV ", 'where': ['relu.op == ~rellu']}"),
      { "'rellu' is not an operator" },
      "'relu'" },
    { ROWS("{" CONV ", 'where': ['conv2d.op == ~\\'nn.conv2d\\'']}"),
      { "'nn.conv2d' is not an operator" },
      "'conv2d'" },
    { ROWS("{'name': 'r', 'pattern': '~relu6(x)', 'template': 'a.tmpl'}"),
      { "unknown operator 'relu6'" },
      "ReLU6 is clip with a_min=0, a_max=6" },
    { ROWS("{" CONV ", 'where': ['~out.groups == 1']}"), { "out has no field 'groups'" }, NULL },
    { ROWS("{" CONV ", 'where': ['present(~bias)']}"), { "unknown name 'bias' here" }, NULL },
    { ROWS("{" CONV ", 'cost_ns': '5 + ~macz / 64'}"), { "unknown name 'macz'" }, "'macs'" },
    { ROWS("{" CONV ", 'where': ['macs > 7 && ~fast']}"), { "unknown name 'fast'" }, NULL },
    { ROWS("{" CONV ", 'where': ['macs <= ~limit']}"), { "unknown name 'limit'" }, NULL },
    { ROWS("{" CONV ", 'cost_ns': 'min(macs, ~limit)'}"), { "unknown name 'limit'" }, NULL },
    { ROWS("{" CONV ", 'scratch': '~tile * 4', 'let': {'tiles': 'macs / 64'}}"),
      { "unknown name 'tile'" },
      "'tiles'" },
    { ROWS("{" CONV ", 'scratch': '~tiles.rank * 4', 'let': {'tiles': 'macs / 64'}}"),
      { "'tiles' is defined by let and has no fields" },
      NULL },
    { ROWS("{" CONV ", 'let': {'a': 'macs + ~mac'}}"), { "unknown name 'mac'" }, "'macs'" },
    { ROWS("{" RELU ", 'let': {'a': '~a + 1'}}"), { "form a cycle: a -> a" }, NULL },
    { ROWS("{" RELU ", 'let': {'a': '~b + 1', 'b': '~c + d', 'c': 'b + a', 'd': '1'}}"),
      { "form a cycle: a -> b -> c -> a", "form a cycle: b -> c -> b" },
      NULL },
    { ROWS("{" RELU ", 'let': {~'4': '1'}}"), { "'4' is not a name" }, NULL },
    { ROWS("{" RELU ", 'let': {~'out': '1'}}"), { "'out' is reserved" }, NULL },
    { ROWS("{" RELU ", 'let': {~'out7': '1'}}"), { "'out7' is reserved" }, NULL },
    { ROWS("{" RELU ", 'let': {~'scratch': '1'}}"), { "'scratch' is reserved" }, NULL },
    { ROWS("{" RELU ", 'let': {'x': '~1'}}"), { "'x' is already a capture" }, NULL },
    { ROWS("{'name': 'r', 'pattern': '~name=relu(x)', 'template': 'a.tmpl'}"),
      { "nothing can be captured as 'name'" },
      NULL },

    /* rows that can never match */
    { ROWS("{" RELU ", 'where': ['x.rank == 4', '~x.rank < 3']}"),
      { "'x.rank == 4' and 'x.rank < 3' can never hold together" },
      NULL },
    { ROWS("{" RELU ", 'where': ['~x.rank > 4 && x.rank < 3']}"), { "can never hold" }, NULL },
    { TARGET(", 'limits': {'max_nodes': 1},\n'composites': [{'name': 'r', 'pattern': "
             "'~conv2d(x, w) -> relu -> tanh?', 'template': 'a.tmpl'}]"),
      { "this composite has at least 2 operators, max_nodes is 1" },
      NULL },
    { TARGET(", 'limits': {'max_nodes': 2},\n'composites': [{'name': 'r', 'pattern': "
             "'~conv2d(x, w) -> multiply(_, sigmoid(_)) -> relu|tanh?', 'template': 'a.tmpl'}]"),
      { "this composite has at least 3 operators, max_nodes is 2" },
      NULL },
    { TARGET(", 'limits': {'max_nodes': 2},\n'composites': [{'name': 'r', 'pattern': "
             "'~conv2d(x, add(y, tanh(z))) -> add(_, exp(u))|relu', 'template': 'a.tmpl'}]"),
      { "this composite has at least 4 operators, max_nodes is 2" },
      NULL },
    { TARGET(", 'keep_on_host': ['nn.relu', 'tanh'],\n'composites': [{'name': 'r', 'pattern': "
             "'~conv2d(x, w) -> relu|tanh -> relu?', 'template': 'a.tmpl'}]"),
      { "which keep_on_host lists" },
      NULL },
    { TARGET(", 'keep_on_host': ['nn.relu'],\n'composites': [{'name': 'r', 'pattern': "
             "'~conv2d(x, w) -> relu', 'template': 'a.tmpl'}]"),
      { "this composite cannot do without nn.relu, which keep_on_host lists" },
      NULL },
    { ROWS("{" RELU "},\n{'name': 's', 'pattern': '~relu( x )', 'template': 'a.tmpl'}"),
      { "this composite can never match: t.r takes all its matches" },
      "the one with more conditions belongs first" },
    { ROWS("{" RELU ", 'where': ['x.rank == 4']},\n{'name': 's', 'pattern': '~relu(x)', "
           "'template': 'a.tmpl', 'where': ['x.dtype == f32', 'x.rank == 4']}"),
      { "this composite can never match: t.r" },
      NULL },

    /* several at once */
    { "{~'nmae': 't', 'limits': {'max_macs': ~-1},\n 'rates': {'call_ns': ~'x'}, 'name': 't'}",
      { "unknown key 'nmae'", "'max_macs' is -1", "'call_ns' is text" },
      NULL },
    { ROWS("{'name': 'r', 'pattern': '~rellu(x)', 'where': ['x.rank == ~'], 'template': ~'b'}"),
      { "rellu", "", "cannot read 'b'" },
      NULL },
};

/* The text without marks and with quotes; *n marks, each as "t.json:LINE:COLUMN: ". */
static const char *unmark(const char *marked, const char **places, int *n)
{
    char *json = arena_alloc(&ctx->perm, strlen(marked) + 1);
    int line = 1, column = 1;
    size_t length = 0;

    *n = 0;
    for (const char *at = marked; *at; at++) {
        if (*at == '~') {
            places[(*n)++] = arena_printf(&ctx->perm, "t.json:%d:%d: ", line, column);
            continue;
        }
        json[length++] = *at == '\'' ? '"' : *at;
        column = *at == '\n' ? 1 : column + 1;
        line += *at == '\n';
    }
    return json;
}

static bool has_help(const char *help)
{
    for (const struct diag *diag = ctx->diags.first; diag; diag = diag->next)
        if ((diag->help && strstr(diag->help, help)) || (diag->note && strstr(diag->note, help)))
            return true;
    return false;
}

START_TEST(every_mistake_is_told_with_its_place)
{
    const char *places[4];
    int n;
    const char *json = unmark(bad[_i].json, places, &n);
    int at = 0;

    ck_assert_ptr_null(target_parse(ctx, "t.json", json, some_files, NULL));
    ck_assert_msg(ctx->diags.n_errors == n, "%s\n%s", json, expect_text(ctx));
    for (const struct diag *diag = ctx->diags.first; diag; diag = diag->next, at++) {
        ck_assert_int_eq(diag->code, DIAG_TARGET_FILE);
        ck_assert_msg(strncmp(diag->message, places[at], strlen(places[at])) == 0, "%s%s\n%s",
                      places[at], json, expect_text(ctx));
        ck_assert_msg(strstr(diag->message, bad[_i].messages[at]) != NULL, "%s\n%s",
                      bad[_i].messages[at], expect_text(ctx));
    }
    if (bad[_i].help)
        ck_assert_msg(has_help(bad[_i].help), "%s\n%s", bad[_i].help, expect_text(ctx));
}
END_TEST

/* Hostile texts: whatever comes back, it is a target or an error. */
static struct target *parse_raw(const char *text)
{
    struct target *target = target_parse(ctx, "t.json", text, some_files, NULL);

    ck_assert(!target == (ctx->diags.n_errors > 0));
    return target;
}

static const char *repeat(const char *text, int n)
{
    struct str all = { .arena = &ctx->perm };

    for (int i = 0; i < n; i++)
        str_add(&all, text);
    return str_text(&all);
}

START_TEST(deep_nesting_is_refused)
{
    static const char *const brackets[] = { "[", "{\"a\":", "[{\"composites\":" };

    for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++) {
        ck_assert_ptr_null(parse_raw(repeat(brackets[i], 100000)));
        ck_assert_ptr_null(parse_raw(
            arena_printf(&ctx->perm, "{\"name\":\"t\",\"limits\":%s1", repeat(brackets[i], 900))));
    }
    ck_assert_ptr_null(parse_raw(arena_printf(&ctx->perm, "{\"name\":\"t\",\"limits\":%s%s}",
                                              repeat("[", 900), repeat("]", 900))));
}
END_TEST

START_TEST(many_errors_take_no_time)
{
    const char *rows = repeat("{\"a\":1,\"b\":[],\"c\":{}},\n", 20000);

    ck_assert_ptr_null(
        parse_raw(arena_printf(&ctx->perm, "{\"name\":\"t\",\"composites\":[%s0]}", rows)));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "t.json:20001:1: found a number"));
}
END_TEST

/* 64 conditions of 100 comparisons each. */
START_TEST(conditions_without_end_take_no_time)
{
    const char *one = repeat(" && x.rank == 4", 100);
    const char *all = repeat(arena_printf(&ctx->perm, ",\"x.rank == 4%s\"", one), 63);

    ck_assert_msg(parse_raw(arena_printf(
                      &ctx->perm,
                      "{\"name\":\"t\",\"composites\":[{\"name\":\"r\",\"pattern\":"
                      "\"relu(x)\",\"template\":\"a.tmpl\",\"where\":[\"x.rank > 3\"%s]}]}",
                      all)) != NULL,
                  "%s", expect_text(ctx));
}
END_TEST

/* a0 = 1, a1 = a0 + a0, ... */
static const char *lets(int n)
{
    struct str all = { .arena = &ctx->perm };

    str_add(&all, "{\"name\":\"t\",\"composites\":[{\"name\":\"r\",\"template\":\"a.tmpl\","
                  "\"pattern\":\"relu(x)\",\"let\":{\"a0\":\"1\"");
    for (int i = 1; i < n; i++)
        str_printf(&all, ",\"a%d\":\"a%d + a%d\"", i, i - 1, i - 1);
    str_add(&all, "}}]}");
    return str_text(&all);
}

START_TEST(definitions_that_nest_too_deep_are_refused)
{
    ck_assert_msg(parse_raw(lets(16)) != NULL, "%s", expect_text(ctx));
    ck_assert_ptr_null(parse_raw(lets(17)));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "more than 16 deep"));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_ptr_null(parse_raw(lets(65)));
    ck_assert(expect_error(ctx, DIAG_TARGET_FILE, "65 names are defined"));
}
END_TEST

/* A good file with one byte changed, in every place. */
START_TEST(a_damaged_file_is_refused_or_read)
{
    static const char *const good =
        "{\"name\":\"t\",\"format\":\"c\",\"composites\":[{\"name\":\"k\",\"pattern\":"
        "\"conv2d(x, w:const){groups=1} -> relu|clip?\",\"where\":[\"x.dtype == f32\",\"macs < "
        "9\"],\"let\":{\"a\":\"w.dim[0]\",\"b\":\"a * 2\"},\"cost_ns\":\"b + 1.5\","
        "\"template\":\"a.tmpl\"}],\"limits\":{\"max_macs\":10,\"max_onchip_bytes\":20,"
        "\"weights_onchip\":true},\"rates\":{\"ns_per_mac\":{\"f32\":0.5,\"other\":1}},"
        "\"headers\":[\"a.h\"],\"keep_on_host\":[\"nn.softmax\"]}";
    static const char changes[] = { '"', '{', '}', '[', ']', ',',  ':',    '\\',  ' ',
                                    '-', '9', 'e', '(', ')', '\n', '\x01', '\x80' };
    const size_t n = strlen(good);
    char *text = arena_strdup(&ctx->perm, good);

    ck_assert_msg(parse_raw(good) != NULL, "%s", expect_text(ctx));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < sizeof changes; j++) {
            struct ctx *outer = ctx;

            text[i] = changes[j];
            ctx = ctx_new(NULL);
            parse_raw(text);
            ctx_free(ctx);
            ctx = outer;
        }
        text[i] = good[i];
    }
    for (size_t i = 0; i < n; i++) {
        text[i] = '\0';
        ck_assert_ptr_null(parse_raw(text));
        text[i] = good[i];
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("target errors");
    TCase *tests = tcase_create("target errors");

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, every_mistake_is_told_with_its_place, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tests, deep_nesting_is_refused);
    tcase_add_test(tests, many_errors_take_no_time);
    tcase_add_test(tests, conditions_without_end_take_no_time);
    tcase_add_test(tests, definitions_that_nest_too_deep_are_refused);
    tcase_add_test(tests, a_damaged_file_is_refused_or_read);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
