#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "frontend/onnx/import.h"
#include "relay_ir/json.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/verify.h"
#include "tests/make/make.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/temp_dir.h"

/* --- there and back --------------------------------------------------------------------------- */

static void write_json(struct temp_dir *dir, const struct module *module, const char *stem)
{
    struct output_set set = { .ctx = module->ctx };
    const char *path = temp_path(dir, arena_printf(&dir->arena, "%s.json", stem));
    const char *data = temp_path(dir, arena_printf(&dir->arena, "%s.bin", stem));

    ck_assert(module_write_json(module, &set, path, data));
    ck_assert_msg(output_commit(&set), "%s", expect_text(module->ctx));
}

static void check_same_file(struct ctx *ctx, const char *a, const char *b)
{
    struct mapping one, two;

    ck_assert_msg(file_map(ctx, a, &one) && file_map(ctx, b, &two), "%s", expect_text(ctx));
    ck_assert_uint_eq(one.size, two.size);
    ck_assert_mem_eq(one.data, two.data, one.size);
    file_unmap(&one);
    file_unmap(&two);
}

static void check_same_payloads(const struct module *a, const struct module *b)
{
    const struct function *g = b->functions;

    for (const struct function *f = a->functions; f; f = f->next, g = g->next)
        for (struct value *v = f->constants, *w = g->constants; v; v = v->next, w = w->next) {
            const struct tensor one = value_tensor(v), two = value_tensor(w);

            ck_assert_msg(tensor_equal(&one, &two), "%s", v->name);
        }
}

/* The module read back prints the same text, has the same numbers, and is written as the same
 * files. */
static void check_round_trip(struct module *module, const char *what)
{
    struct temp_dir dir = temp_dir_new();
    struct ctx *ctx = module->ctx;
    const char *text = graph_text(module, true), *again_text;
    struct module *again;

    write_json(&dir, module, "a");
    again = module_read_json(ctx, temp_path(&dir, "a.json"));
    ck_assert_msg(again != NULL, "%s: %s", what, expect_text(ctx));
    ck_assert_msg(module_verify(again, "reading"), "%s: %s", what, expect_text(ctx));
    again_text = graph_text(again, true);
    ck_assert_msg(strcmp(again_text, text) == 0, "%s:\n%s\nbecomes\n%s", what, text, again_text);
    ck_assert_int_eq(again->n_onnx_nodes, module->n_onnx_nodes);
    check_same_payloads(module, again);
    rename(temp_path(&dir, "a.bin"), temp_path(&dir, "b.bin")); /* the name stands in the JSON */
    if (again->source) {
        write_json(&dir, again, "a");
        check_same_file(ctx, temp_path(&dir, "a.bin"), temp_path(&dir, "b.bin"));
    }
    module_free(again);
    temp_dir_free(&dir);
}

/* As it is, and with the regions that all passes make; these change nothing when they run again. */
static void check_before_and_after(struct module *module, const char *what)
{
    const char *once, *twice;

    check_round_trip(module, what);
    ck_assert_msg(pipeline_run(module, &(struct pipeline_options){ .log = stderr }), "%s: %s", what,
                  expect_text(module->ctx));
    check_round_trip(module, arena_printf(&module->ctx->perm, "%s after all passes", what));
    once = graph_text(module, true);
    ck_assert_msg(pipeline_run(module, &(struct pipeline_options){ .log = stderr }), "%s: %s", what,
                  expect_text(module->ctx));
    twice = graph_text(module, true);
    ck_assert_msg(strcmp(once, twice) == 0, "%s:\n%s\nbecomes\n%s", what, once, twice);
}

static void check_recipe(const struct recipe *recipe)
{
    struct onnx_builder *b = builder_new(17);
    struct ctx *ctx = ctx_new(recipe->name);
    const uint8_t *bytes;
    struct module *module;
    size_t n;

    recipe->make(b);
    bytes = builder_bytes(b, &n);
    module = onnx_import_bytes(ctx, bytes, n, NULL, &(struct import_options){ 0 });
    ck_assert_msg(module != NULL, "%s: %s", recipe->name, expect_text(ctx));
    check_before_and_after(module, recipe->name);
    module_free(module);
    ctx_free(ctx);
    builder_free(b);
}

START_TEST(the_models_of_the_goldens_come_back)
{
    for (int i = 0; i < n_good_cases; i++)
        check_recipe(&good_cases[i]);
}
END_TEST

START_TEST(networks_come_back)
{
    for (int i = 0; i < n_networks; i++)
        check_recipe(&networks[i]);
}
END_TEST

START_TEST(random_graphs_come_back)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *module = random_graph(ctx, 40, seed);

        check_before_and_after(module, arena_printf(&ctx->perm, "random graph %u", seed));
        module_free(module);
        ctx_free(ctx);
    }
}
END_TEST

/* What the rest of the tests does not hold, as IR text. */
static const char *const graphs[] = {
    /* results: none, a parameter, one twice, with a name of their own */
    "fn main() -> () {\n}\n",
    "fn main(%x: (2,3) f32) -> (%x, %x as \"again\") {\n}\n",

    /* every kind of attribute, numbers that JSON does not have, absent inputs, several outputs */
    "fn main(%x: (1,4,6,6) f32, %w: (1,9,5) f32, %r: (1,9,3) f32, %seq: (2,1,5) f32) -> "
    "(%c, %m, %inf, %g, %gh) {\n"
    "  %p0, %p1 = split(%x) {axis=1, sizes=[1,3]} : (1,1,6,6) f32, (1,3,6,6) f32\n"
    "  %c = cast(%p1) {dtype=i32, saturate=true} : (1,3,6,6) i32\n"
    "  %m = mean(%x) {axis=[2,3], keepdims=true} : (1,4,1,1) f32\n"
    "  %l = nn.leaky_relu(%m) {alpha=0.10000000149011612, beta=-0} : (1,4,1,1) f32\n"
    "  %e = nn.elu(%l) {alpha=nan, beta=1e-320} : (1,4,1,1) f32\n"
    "  %inf = clip(%e) {a_min=-inf, a_max=inf} : (1,4,1,1) f32\n"
    "  %g, %gh = nn.gru(%seq, %w, %r, _, _, _) {hidden_size=3, direction=\"forward\", "
    "activations=\"Sigmoid,Tanh\", clip=0, linear_before_reset=false, input_forget=false, "
    "activation_alpha=[0.5,inf], activation_beta=[nan,0], batch_major=false} : (2,1,1,3) f32, "
    "(1,1,3) f32\n"
    "}\n",

    /* what is known of the numbers */
    "fn main(%x: (1,2) f32 calibrated(min=-1.5, max=6, threshold=5.9), %q: (2,3) u4 "
    "scaled(axis=1, scale=[1, ...], zero=[1, 2, 15]), %f: (3) afp<3,2,7> scaled(scale=0.5)) -> "
    "(%y, %c) {\n"
    "  const @w : (2,2) f4e2m1 blocks(32, scale=[0.5, 4]) = [0x07, ...]\n"
    "  %y = nn.dense(%x, @w) {out_dtype=f32} : (1,2) f32 calibrated(min=-3, max=7, threshold=7)\n"
    "  %c = copy(%q) : (2,3) u4 scaled(axis=1, scale=[1, ...], zero=[1, 2, 15])\n"
    "}\n",

    /* integers that doubles do not have */
    "fn main(%x: (2) f32) -> (%y, @l, @u, @z) {\n"
    "  const @l : (6) i64 = [-9223372036854775808, 9223372036854775807, 9007199254740991, "
    "9007199254740992, -9007199254740993, 0]\n"
    "  const @u : (3) u64 = [0, 18446744073709551615, 9007199254740993]\n"
    "  const @z : () i64 = [-9007199254740991]\n"
    "  const @ones : (2) f32 = [1, ...]\n"
    "  %y = nn.layer_norm(%x, @ones) {axis=0, groups=-9223372036854775807, epsilon=1e-05} : (2) "
    "f32\n"
    "}\n",

    /* elements of every type; NaN by its bits; empty and big constants */
    "fn main() -> (@f, @n, @d, @h, @b, @i, @z, @q, @many, @none, @same, @again) {\n"
    "  const @f : (4) f32 = [0.1, -0, inf, 3.4028235e+38]\n"
    "  const @n : (3) f32 = [nan, 0x7fc00001, -nan]\n"
    "  const @d : (3) f64 = [0.1, 0.30000000000000004, 4.94066e-324]\n"
    "  const @h : (2) f16 = [65504, 5.96046e-08]\n"
    "  const @b : (2) bf16 = [1, 3.38953e+38]\n"
    "  const @i : (2) i8 = [-128, 127]\n"
    "  const @z : (3) bool = [0, 1, 0x02]\n"
    "  const @q : (2) f8e4m3 = [0x7e, 0xff]\n"
    "  const @many : (1000,3) f32 = [-2.5, ...]\n"
    "  const @none : (0) f32 = []\n"
    "  const @same : (17) i8 = [3, ...]\n"
    "  const @again : (17) u16 = [3, ...]\n"
    "}\n",

    /* names of all bytes, in every place of a name */
    "module opset 9 producer \"a\\x5Cx \\x01\\xFF\"\n\n"
    "fn main(%\"in \\x22put\\x5C\": (2) f32) -> (%\"y(\" as \"\\x22\") {\n"
    "  const @\"c:\\xE2\\x80\\xAE\" : (2) f32 = [1, 2]\n"
    "  %\"y(\" = add(%\"in \\x22put\\x5C\", @\"c:\\xE2\\x80\\xAE\") : (2) f32  from Add \"node "
    "\\x0A 1\" #3 + \"strange \xC3\xA4 op\" #4\n"
    "}\n",

    /* regions: of other targets, regions that call composites, of every head */
    "fn main(%x: (2) f32) -> (%y) {\n"
    "  %y = call r1(%x) : (2) f32  from Relu \"a\" #0 + Exp #1\n"
    "}\n"
    "fn r1(%x: (2) f32) -> (%y) compiler \"dnnl\" global_symbol \"dnnl_y\" {\n"
    "  %y = call \"r 2\"(%x) : (2) f32\n"
    "}\n"
    "fn \"r 2\"(%x: (2) f32) -> (%y) compiler \"dnnl\" composite \"dnnl.relu\" {\n"
    "  %y = nn.relu(%x) : (2) f32  from Relu \"a\" #0\n"
    "}\n",
};

START_TEST(strange_graphs_come_back)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, graphs[_i], 0);

    check_round_trip(module, graphs[_i]);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(random_bits_of_every_type_come_back)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_new(ctx);
    uint64_t bits = 88172645463325252u;

    for (enum dtype dtype = DTYPE_NONE + 1; dtype < DTYPE_COUNT; dtype++)
        for (int i = 0; i < 40; i++) {
            const struct type type = graph_type(ctx, dtype, i < 38 ? 16 : 17);
            unsigned char *data = constant_alloc(module->main, &type);

            for (size_t j = 0; j < type_bytes(&type); j++) {
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                data[j] = graph_code(&type, (unsigned char)bits);
            }
            result_add(module->main, constant_new(module->main, "c", &type, data), "c");
        }
    check_round_trip(module, "random bits");
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* A payload that a constant of main and one of a region share is written once. */
START_TEST(shared_payloads_are_written_once)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_new(ctx);
    struct function *region = function_new(module, "region");
    const struct type type = type_make(DTYPE_F32, 1, (int64_t[]){ 100 });
    const void *data = constant_alloc(module->main, &type);
    struct temp_dir dir = temp_dir_new();
    struct mapping file;

    result_add(module->main, constant_new(module->main, "a", &type, data), "a");
    result_add(region, constant_new(region, "b", &type, data), "b");
    write_json(&dir, module, "a");
    ck_assert(file_map(ctx, temp_path(&dir, "a.bin"), &file));
    ck_assert_uint_eq(file.size, 400);
    file_unmap(&file);
    check_round_trip(module, "shared");
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- the real models -------------------------------------------------------------------------- */

static void check_model(const char *path)
{
    struct ctx *ctx = ctx_new(path);
    struct module *module = onnx_import(ctx, path, &(struct import_options){ 0 });

    /* Quantised operators, or dimensions that are not bound: other tests know about them. */
    if (module)
        check_before_and_after(module, path);
    else
        printf("not imported: %s\n", path);
    module_free(module);
    ctx_free(ctx);
}

START_TEST(the_real_models_come_back)
{
    const char *shared = getenv("RELAYC_SHARED");
    struct arena arena = { NULL };
    const char *folder = arena_printf(&arena, "%s/models", shared ? shared : "");
    DIR *models = shared ? opendir(folder) : NULL;
    int n = 0;

    if (!models)
        printf("SKIPPED: no models (set RELAYC_SHARED): the real models were NOT tested\n");
    for (struct dirent *entry; models && (entry = readdir(models));) {
        const char *path = arena_printf(&arena, "%s/%s/model.onnx", folder, entry->d_name);
        FILE *file = fopen(path, "rb");

        if (!file)
            continue;
        fclose(file);
        check_model(path);
        n++;
    }
    if (models) {
        ck_assert_int_gt(n, 0);
        closedir(models);
    }
    arena_release(&arena);
}
END_TEST

/* --- function_json ---------------------------------------------------------------------------- */

/* ' stands for " in the texts below. */
static const char *quoted(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

START_TEST(a_function_is_shown_with_what_it_calls)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module =
        graph_parse(ctx,
                    "fn main(%x: (2) f32) -> (%y) {\n  %y = call r(%x) : (2) f32\n}\n"
                    "fn other(%x: (2) f32) -> (%x) {\n}\n"
                    "fn r(%x: (2) f32) -> (%y) compiler \"npu\" {\n"
                    "  %a = call f(%x) : (2) f32\n  %y = call f(%a) : (2) f32\n}\n"
                    "fn f(%x: (2) f32) -> (%y) compiler \"npu\" composite \"npu.add\" {\n"
                    "  const @small : (2) f32 = [0.5, 1]\n  const @big : (20) f32 = [1, ...]\n"
                    "  %y = add(%x, @small) : (2) f32  from Add \"a\" #3\n}\n",
                    0);
    struct function *region = module->functions->next->next;

    ck_assert_str_eq(
        function_json(region, &ctx->perm),
        quoted(&ctx->perm,
               "{\n  'functions': [\n"
               "    {\n"
               "      'name': 'r',\n"
               "      'compiler': 'npu',\n"
               "      'params': [\n        {'name':'x','dtype':'f32','shape':[2]}\n      ],\n"
               "      'constants': [],\n"
               "      'nodes': [\n"
               "        {'op':'call','callee':'f','inputs':['x'],'outputs':[{'name':'a',"
               "'dtype':'f32','shape':[2]}]},\n"
               "        {'op':'call','callee':'f','inputs':['a'],'outputs':[{'name':'y',"
               "'dtype':'f32','shape':[2]}]}\n"
               "      ],\n"
               "      'results': [\n        {'value':'y'}\n      ]\n"
               "    },\n"
               "    {\n"
               "      'name': 'f',\n"
               "      'compiler': 'npu',\n"
               "      'composite': 'npu.add',\n"
               "      'params': [\n        {'name':'x','dtype':'f32','shape':[2]}\n      ],\n"
               "      'constants': [\n"
               "        {'name':'small','dtype':'f32','shape':[2],'values':[0.5,1]},\n"
               "        {'name':'big','dtype':'f32','shape':[20],'bytes':80,'crc32':'2037218a'}\n"
               "      ],\n"
               "      'nodes': [\n"
               "        {'op':'add','inputs':['x','small'],'outputs':[{'name':'y','dtype':'f32',"
               "'shape':[2]}],'origins':[{'op_type':'Add','name':'a','index':3}]}\n"
               "      ],\n"
               "      'results': [\n        {'value':'y'}\n      ]\n"
               "    }\n"
               "  ]\n}\n"));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- the manual ------------------------------------------------------------------------------- */

START_TEST(the_example_of_the_manual_is_what_is_written)
{
    struct temp_dir dir = temp_dir_new();
    struct ctx *ctx = ctx_new(NULL);
    struct mapping file;
    const char *text, *json, *end, *path;
    struct module *module;

    ck_assert(file_map(ctx, "docs/guide/graph-json.md", &file));
    text = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    json = strstr(text, "```json\n") + strlen("```json\n");
    end = strstr(json, "```");
    path = temp_file(&dir, "example.json", json, (size_t)(end - json));
    module = module_read_json(ctx, path);
    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    write_json(&dir, module, "again");
    check_same_file(ctx, path, temp_path(&dir, "again.json"));
    module_free(module);
    ctx_free(ctx);
    temp_dir_free(&dir);
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
    static const char useful[] = "0123456789-()[]{}%@,:=\"\\_. \nefxnul";

    for (unsigned i = 0, n = 1 + next_random(seed) % 3; i < n; i++) {
        const size_t length = strlen(text), at = next_random(seed) % (length + 1);
        const char c = useful[next_random(seed) % (sizeof useful - 1)];

        switch (next_random(seed) % 3) {
        case 0: memmove(text + at, text + at + (at < length), length - at + (at >= length)); break;
        case 1: text[at] = at < length ? c : '\0'; break;
        default:
            if (length + 2 < capacity) {
                memmove(text + at + 1, text + at, length - at + 1);
                text[at] = c;
            }
        }
    }
}

static bool has_internal_error(const struct ctx *ctx)
{
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->code == DIAG_INTERNAL)
            return true;
    return false;
}

START_TEST(mutated_json_is_read_or_refused_but_never_crashes)
{
    enum { ROUNDS = 2000 };
    unsigned seed = (unsigned)_i + 1;
    struct temp_dir dir = temp_dir_new();
    struct ctx *first = ctx_new(NULL);
    struct module *module = graph_parse(first, graphs[_i], 0);
    struct mapping file;
    char *text;
    int n_read = 0;

    write_json(&dir, module, "a");
    ck_assert(file_map(first, temp_path(&dir, "a.json"), &file));
    text = malloc(file.size + 16);
    for (int i = 0; i < ROUNDS; i++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *read;

        memcpy(text, file.data, file.size);
        text[file.size] = '\0';
        mutate(text, file.size + 16, &seed);
        read = module_read_json_bytes(ctx, text, strlen(text), dir.path);
        n_read += read != NULL;
        ck_assert_msg(!read == (ctx->diags.n_errors > 0), "%s", text);
        ck_assert_msg(!has_internal_error(ctx), "%s\n%s", text, expect_text(ctx));
        ck_assert_msg(!read || module_verify(read, "reading"), "%s\n%s", text, expect_text(ctx));
        module_free(read);
        ctx_free(ctx);
    }
    ck_assert_int_gt(n_read, 0);
    file_unmap(&file);
    free(text);
    module_free(module);
    ctx_free(first);
    temp_dir_free(&dir);
}
END_TEST

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, the_models_of_the_goldens_come_back);
    tcase_add_test(tests, networks_come_back);
    tcase_add_test(tests, random_graphs_come_back);
    tcase_add_loop_test(tests, strange_graphs_come_back, 0, N_ROWS(graphs));
    tcase_add_test(tests, random_bits_of_every_type_come_back);
    tcase_add_test(tests, shared_payloads_are_written_once);
    tcase_add_test(tests, the_real_models_come_back);
    tcase_add_test(tests, a_function_is_shown_with_what_it_calls);
    tcase_add_test(tests, the_example_of_the_manual_is_what_is_written);
    tcase_add_loop_test(tests, mutated_json_is_read_or_refused_but_never_crashes, 0,
                        N_ROWS(graphs));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
