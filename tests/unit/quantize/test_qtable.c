/* Qtables: what rows mean, what is wrong with them, and that what is written is read again. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "quantize/qtable.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct ctx *ctx;
static struct temp_dir dir;
static struct module *graph;

static void setup(void)
{
    ctx = ctx_new("model.onnx");
    dir = temp_dir_new();
    graph = NULL;
}

static void teardown(void)
{
    module_free(graph);
    temp_dir_free(&dir);
    ctx_free(ctx);
}

static bool read_text(const char *text, struct qtable *out)
{
    return qtable_read_bytes(ctx, "t.qtable", text, strlen(text), out);
}

static const struct precision *row_of(const struct qtable *table, const char *name)
{
    const struct qtable_row *row = map_get(&table->by_name, name);

    ck_assert_msg(row, "%s", name);
    return &row->precision;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* weights, data: formats, "" = f32; scale, weight_scale: rules, "" = not said */
static const struct {
    const char *row, *precision, *weights, *data, *scale, *weight_scale;
} good[] = {
    { "n f32", "f32", "", "", "", "" },
    { "n fp8", "fp8", "f8e4m3", "f8e4m3", "", "max" },
    { "n fp8=f8e3m4", "fp8=f8e3m4", "f8e3m4", "f8e3m4", "", "max" },
    { "n fp8=f8e3m4,f8e4m3", "fp8=f8e3m4,f8e4m3", "f8e3m4", "f8e4m3", "", "max" },
    { "n fp8 weights=f8e3m4", "fp8=f8e3m4,f8e4m3", "f8e3m4", "f8e4m3", "", "max" },
    { "n fp8 data=f8e5m2", "fp8=f8e4m3,f8e5m2", "f8e4m3", "f8e5m2", "", "max" },
    { "n fp8 data=f8e5m2 weights=f8e3m4 # why", "fp8=f8e3m4,f8e5m2", "f8e3m4", "f8e5m2", "",
      "max" },
    { "n fp8 f8e3m4 f8e5m2 unit mse", "fp8=f8e3m4,f8e5m2", "f8e3m4", "f8e5m2", "unit", "mse" },
    { "n fp8 - - 0.25", "fp8", "f8e4m3", "f8e4m3", "0.25", "max" },
    { "n fp8 - f8e5m2", "fp8=f8e4m3,f8e5m2", "f8e4m3", "f8e5m2", "", "max" },
    { "n fp8 scale=- weights=-", "fp8", "f8e4m3", "f8e4m3", "", "max" },
    { "n\tfp8\tscale=percentile:99.9\r", "fp8", "f8e4m3", "f8e4m3", "percentile:99.9", "max" },
    { "n fp8 scale=search scale-weights=pow2:-3..1", "fp8", "f8e4m3", "f8e4m3", "search",
      "pow2:-3..1" },
    { "n int8 scale=kl", "int8", "i8", "i8", "kl", "max" },
    { "n int8w i4", "int8w=i4", "i4", "", "", "max" },
    { "n f16w", "f16w", "f16", "", "", "max" },
    { "n afp weights=afp<4,3>", "afp=afp<4,3>", "afp<4,3>", "", "", "max" },
    { "n afp=afp6", "afp=afp6", "afp6", "", "", "max" },
    { "n mxfp6 mxfp6=f6e3m2", "mxfp6=f6e3m2", "mxfp6=f6e3m2", "", "", "max" },
    { "n F32", "f32", "", "", "", "" },
    { "n INT8", "int8", "i8", "i8", "", "max" },
    { "n F8E4M3", "fp8", "f8e4m3", "f8e4m3", "", "max" },
    { "n F8E5M2", "fp8=f8e5m2", "f8e5m2", "f8e5m2", "", "max" },
    { "n F16", "f16w", "f16", "", "", "max" },
    { "n bf16", "bf16w", "bf16", "", "", "max" },
};

static void check_precision(const struct precision *p, const struct precision *wanted)
{
    ck_assert_int_eq(p->mode, wanted->mode);
    ck_assert_str_eq(precision_text(&ctx->perm, p), precision_text(&ctx->perm, wanted));
    ck_assert_int_eq(p->has_weights, wanted->has_weights);
    ck_assert_int_eq(p->has_data, wanted->has_data);
    ck_assert_int_eq(p->has_data_scale, wanted->has_data_scale);
    ck_assert_str_eq(p->weight_scale.name, wanted->weight_scale.name);
    ck_assert_str_eq(p->data_scale.name, wanted->data_scale.name);
    ck_assert_int_eq(p->weight_scale.kind, wanted->weight_scale.kind);
    ck_assert_int_eq(p->data_scale.kind, wanted->data_scale.kind);
}

START_TEST(rows_are_precisions)
{
    struct qtable table;
    const struct precision *p;

    ck_assert_msg(read_text(good[_i].row, &table), "%s: %s", good[_i].row, expect_text(ctx));
    ck_assert_int_eq(table.n, 1);
    ck_assert_int_eq(table.rows[0].line, 1);
    p = row_of(&table, "n");
    ck_assert_str_eq(precision_text(&ctx->perm, p), good[_i].precision);
    ck_assert_str_eq(p->has_weights ? p->weights.name : "", good[_i].weights);
    ck_assert_str_eq(p->has_data ? p->data.name : "", good[_i].data);
    ck_assert_str_eq(p->has_data_scale ? p->data_scale.name : "", good[_i].scale);
    ck_assert_str_eq(p->has_weights ? p->weight_scale.name : "", good[_i].weight_scale);
}
END_TEST

/* The row, what the message says, what the help says. */
static const struct {
    const char *row, *message, *help;
} bad[] = {
    { "n", "t.qtable:1: 'n' has no mode", "a row is: node_name mode" },
    { "\"n", "a quote is not closed", "" },
    { "\"n\\q\" f32", "escape in a name", "" },
    { "\"n\\x0\" f32", "escape in a name", "" },
    { "\"n\\x00\" f32", "escape in a name", "" },
    { "\"n\\", "escape in a name", "" },
    { "\"n\"f32", "a blank is missing", "" },
    { "\"\" f32", "the name is empty", "" },
    { "n fp9", "t.qtable:1: unknown precision 'fp9'", "did you mean 'fp8'" },
    { "n mixed", "unknown precision 'mixed'", "fp8" },
    { "n fp8 f9", "unknown number format 'f9'", "f8e4m3" },
    { "n fp8 weights=i8", "precision fp8 cannot have the format i8", "" },
    { "n fp8=f8e3m4 weights=f8e4m3", "sets the formats already", "without '='" },
    { "n fp8 scale=percentil", "unknown scale rule 'percentil'", "did you mean 'percentile'" },
    { "n fp8 scale=percentile:0", "unknown scale rule 'percentile:0'", "rules are unit" },
    { "n fp8 scale-weights=x", "unknown scale rule 'x'", "rules are unit" },
    { "n fp8w scale=max", "fp8w does not quantise data", "scale-weights=" },
    { "n fp8w data=f8e4m3", "fp8w does not quantise data", "" },
    { "n f32 weights=f8e4m3", "f32 does not quantise weights", "" },
    { "n f32 scale-weights=max", "f32 does not quantise weights", "" },
    { "n fp8 color=red", "unknown field 'color=red'", "a row is" },
    { "n fp8 - - - - -", "one field too many: '-'", "a row is" },
    { "n fp8 weights=f8e4m3 f8e4m3 data=f8e4m3", "a second value", "a row is" },
    { "n f32\nn fp8", "t.qtable:2: a second row for 'n', which has one in line 1", "" },
    { "n \x01\xff", "unknown precision '\\x01\\xFF'", "" },
};

START_TEST(wrong_rows_are_errors)
{
    struct qtable table;

    ck_assert_msg(!read_text(bad[_i].row, &table), "%s", bad[_i].row);
    ck_assert_msg(expect_error(ctx, DIAG_QTABLE, bad[_i].message), "%s", expect_text(ctx));
    ck_assert_msg(expect_error(ctx, DIAG_QTABLE, bad[_i].help), "%s", expect_text(ctx));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_ptr_null(ctx->diags.first->file);
}
END_TEST

START_TEST(all_errors_are_told_at_once)
{
    struct qtable table;

    ck_assert(!read_text("# a table\n\na fp8\nb fp9\n c\nd f32 x=1\na f32\n", &table));
    ck_assert_int_eq(ctx->diags.n_errors, 4);
    ck_assert(expect_error(ctx, DIAG_QTABLE, "t.qtable:4: unknown precision"));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "t.qtable:5: 'c' has no mode"));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "t.qtable:6: unknown field"));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "t.qtable:7: a second row"));
}
END_TEST

START_TEST(reading_stops_after_many_errors)
{
    struct str text = { .arena = &ctx->perm };
    struct qtable table;

    for (int i = 0; i < 5000; i++)
        str_printf(&text, "node%d\n", i);
    ck_assert(!read_text(str_text(&text), &table));
    ck_assert_int_eq(ctx->diags.n_errors, 100);
    ck_assert(expect_error(ctx, DIAG_QTABLE, "the rest of the file was not read"));
}
END_TEST

START_TEST(odd_files_are_read_or_refused)
{
    struct qtable table;
    char *line = malloc(100000);

    ck_assert(read_text("", &table));
    ck_assert_int_eq(table.n, 0);
    ck_assert(read_text("\xEF\xBB\xBF# only\r\n\r\n \t\n", &table));
    ck_assert_int_eq(table.n, 0);
    ck_assert(!qtable_read_bytes(ctx, "t", "a f32\0", 6, &table));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "not a line of text"));
    memset(line, 'a', 99999);
    line[99999] = '\0';
    ck_assert(!read_text(line, &table));
    free(line);
    ck_assert(!qtable_read(ctx, "/nowhere/at.all", &table));
    ck_assert(expect_error(ctx, DIAG_FILE_READ, "/nowhere/at.all"));
}
END_TEST

/* --- writing ---------------------------------------------------------------------------------- */

static const char *written(const struct qtable *table, const char *name)
{
    struct output_set set = { .ctx = ctx };
    const char *path = temp_path(&dir, name);

    qtable_write(output_open(&set, path), table);
    ck_assert(output_commit(&set));
    return path;
}

static const char *file_text(const char *path)
{
    struct mapping mapping;
    const char *text;

    ck_assert(file_map(ctx, path, &mapping));
    text = arena_strndup(&ctx->perm, (const char *)mapping.data, mapping.size);
    file_unmap(&mapping);
    return text;
}

/* All good rows, and names that need quotes. */
START_TEST(what_is_written_is_read_again)
{
    static const char *const odd[] = {
        "a b",
        "#1",
        "x#y",
        "\"q\"",
        "back\\slash",
        "\x01\n\xff",
        "\xC3\xA9",
        "-",
        "a=b",
        "/layer1/conv/Conv",
        "a_name_that_is_longer_than_the_column_of_names_is_wide_as_such"
    };
    struct str text = { .arena = &ctx->perm };
    struct qtable table, again;
    const char *path;

    for (int i = 0; i < N_ROWS(good); i++)
        str_printf(&text, "n%d%s\n", i, good[i].row + 1);
    ck_assert_msg(read_text(str_text(&text), &table), "%s", expect_text(ctx));
    for (int i = 0; i < N_ROWS(odd); i++)
        table.rows[i].name = odd[i];
    path = written(&table, "a");
    ck_assert_msg(qtable_read(ctx, path, &again), "%s\n%s", expect_text(ctx), file_text(path));
    ck_assert_int_eq(again.n, table.n);
    for (int i = 0; i < table.n; i++) {
        ck_assert_str_eq(again.rows[i].name, table.rows[i].name);
        check_precision(&again.rows[i].precision, &table.rows[i].precision);
        ck_assert_ptr_eq(map_get(&again.by_name, table.rows[i].name), &again.rows[i]);
    }
    ck_assert_str_eq(file_text(written(&again, "b")), file_text(path));
}
END_TEST

START_TEST(a_written_table_is_for_people)
{
    struct qtable table;

    ck_assert(read_text("conv1 fp8 scale=0.5\n\"a b\" int8w=i4\nfc F32\n"
                        "x fp8=f8e3m4,f8e4m3 scale-weights=mse\n",
                        &table));
    ck_assert_str_eq(file_text(written(&table, "t")),
                     "# node, mode, what differs from the mode's defaults\n"
                     "conv1 fp8 scale=0.5\n"
                     "\"a b\" int8w weights=i4\n"
                     "fc    f32\n"
                     "x     fp8 weights=f8e3m4 scale-weights=mse\n");
}
END_TEST

/* --- nodes ------------------------------------------------------------------------------------ */

static struct node *node_named(const char *output)
{
    for (struct node *node = graph->main->first; node; node = node->next)
        if (strcmp(node->outputs[0]->name, output) == 0)
            return node;
    ck_abort_msg("%s", output);
    return NULL;
}

/* The convolution stands for two nodes of the model. */
static void make_graph(void)
{
    static const struct origin norm = { .name = "BatchNorm_1",
                                        .op_type = "BatchNormalization",
                                        .index = 1 };
    static const struct origin conv = {
        .name = "Conv_0", .op_type = "Conv", .index = 0, .next = &norm
    };
    static const struct origin unnamed = { .name = "", .op_type = "Relu", .index = 2 };

    graph = graph_parse(ctx,
                        "fn main(%input: (1,3,4,4) f32) -> (%relu_out) {\n"
                        "  %conv_out = nn.relu(%input) : (1,3,4,4) f32\n"
                        "  %relu_out = nn.relu(%conv_out) : (1,3,4,4) f32\n"
                        "}\n",
                        1);
    node_named("conv_out")->origin = &conv;
    node_named("relu_out")->origin = &unnamed;
}

START_TEST(nodes_answer_to_their_names)
{
    static const char *const names[] = { "Conv_0", "BatchNorm_1", "conv_out" };
    struct qtable table;

    make_graph();
    for (int i = 0; i < N_ROWS(names); i++) {
        ck_assert(read_text(arena_printf(&ctx->perm, "%s fp8\n", names[i]), &table));
        ck_assert_ptr_eq(qtable_find(&table, node_named("conv_out")), table.rows);
        ck_assert_ptr_null(qtable_find(&table, node_named("relu_out")));
        ck_assert(qtable_check(ctx, &table, graph->main));
    }
    ck_assert(read_text("relu_out fp8\n", &table));
    ck_assert_ptr_eq(qtable_find(&table, node_named("relu_out")), table.rows);
    ck_assert_int_eq(ctx->diags.n_errors + ctx->diags.n_warnings, 0);
}
END_TEST

START_TEST(unknown_names_are_errors_all_at_once)
{
    struct qtable table;

    make_graph();
    ck_assert(
        read_text("Conv_O fp8\nprefix/BatchNorm_1/x f32\nzzzzzzzz f32\nconv_out f32\n", &table));
    ck_assert(!qtable_check(ctx, &table, graph->main));
    ck_assert_int_eq(ctx->diags.n_errors, 3);
    ck_assert(expect_error(ctx, DIAG_QTABLE, "t.qtable:1: no node is called 'Conv_O'"));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "did you mean 'Conv_0'?"));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "did you mean 'BatchNorm_1'?"));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "t.qtable:3: no node is called 'zzzzzzzz'"));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "names are those of the ONNX nodes"));
}
END_TEST

/* The file has the node, the graph not any more: no mistake. */
START_TEST(rows_of_nodes_that_are_gone_are_one_warning)
{
    const struct origin gone = { .name = "shape_7", .output = "n7", .op_type = "Shape" };
    struct qtable table;

    make_graph();
    origin_imported(graph, &gone);
    ck_assert(read_text("shape_7 fp8\nn7 f32\nConv_0 fp8\n", &table));
    ck_assert(qtable_check(ctx, &table, graph->main));
    ck_assert_int_eq(ctx->diags.n_errors, 0);
    ck_assert_ptr_nonnull(strstr(expect_text(ctx), "2 rows without effect"));
    ck_assert_ptr_nonnull(strstr(expect_text(ctx), "'shape_7' (line 1), 'n7' (line 2)"));
}
END_TEST

/* A table of another model: one cause, one error. */
START_TEST(many_unknown_names_are_one_error)
{
    struct str text = { .arena = &ctx->perm };
    struct qtable table;

    make_graph();
    for (int i = 0; i < 3000; i++)
        str_printf(&text, "node%d f32\n", i);
    ck_assert(read_text(str_text(&text), &table));
    ck_assert(!qtable_check(ctx, &table, graph->main));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert(
        expect_error(ctx, DIAG_QTABLE,
                     "3000 of 3000 rows name no node of this model, such as 'node0' in line 1"));
    ck_assert(expect_error(ctx, DIAG_QTABLE, "the table was made for another model"));
}
END_TEST

START_TEST(rows_that_became_one_are_told)
{
    struct qtable table;

    make_graph();
    ck_assert(read_text("BatchNorm_1 f32\nConv_0 fp8\n", &table));
    ck_assert(qtable_check(ctx, &table, graph->main));
    ck_assert_ptr_eq(qtable_find(&table, node_named("conv_out")), &table.rows[1]);
    ck_assert(expect_warning(
        ctx, DIAG_QTABLE,
        "t.qtable:1: 'BatchNorm_1' was merged with 'Conv_0', whose row in line 2 applies"));
    ctx->diags = (struct diags){ .input_name = "model.onnx" };
    ck_assert(read_text("BatchNorm_1 fp8\nConv_0 fp8\n", &table));
    ck_assert(qtable_check(ctx, &table, graph->main));
    ck_assert_int_eq(ctx->diags.n_warnings, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("qtable");
    TCase *tests = tcase_create("qtable");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, rows_are_precisions, 0, N_ROWS(good));
    tcase_add_loop_test(tests, wrong_rows_are_errors, 0, N_ROWS(bad));
    tcase_add_test(tests, all_errors_are_told_at_once);
    tcase_add_test(tests, reading_stops_after_many_errors);
    tcase_add_test(tests, odd_files_are_read_or_refused);
    tcase_add_test(tests, what_is_written_is_read_again);
    tcase_add_test(tests, a_written_table_is_for_people);
    tcase_add_test(tests, nodes_answer_to_their_names);
    tcase_add_test(tests, unknown_names_are_errors_all_at_once);
    tcase_add_test(tests, rows_of_nodes_that_are_gone_are_one_warning);
    tcase_add_test(tests, many_unknown_names_are_one_error);
    tcase_add_test(tests, rows_that_became_one_are_told);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
