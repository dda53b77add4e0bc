#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/json.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/temp_dir.h"

/* ' stands for " in the texts below. */
static const char *quoted(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

#define HEAD "{'format': 'relayc-graph', 'version': 1, 'functions': ["
#define X "{'name': 'x', 'dtype': 'f32', 'shape': [2]}"
#define MAIN(constants, nodes, results)                                                            \
    "{'name': 'main', 'params': [" X "], 'constants': [" constants "], 'nodes': [" nodes           \
    "], 'results': [" results "]}"
#define GRAPH(constants, nodes, results) HEAD MAIN(constants, nodes, results) "]}"
#define Y "'outputs': [{'name': 'y'}]"
#define TYPED(type)                                                                                \
    HEAD "{'name': 'main', 'params': [{'name': 'x', " type "}], 'constants': [], 'nodes': [], "    \
         "'results': [{'value': 'x'}]}]}"
#define RELU "{'op': 'nn.relu', 'inputs': ['x'], " Y "}"

/* What may be left out: types of outputs, names of results, opset and the rest of the head. */
START_TEST(what_inference_knows_may_be_left_out)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text = quoted(&ctx->perm, GRAPH("", RELU, "{'value': 'y'}"));
    struct module *module = module_read_json_bytes(ctx, text, strlen(text), NULL);

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_str_eq(graph_text(module, true), "module opset 0\n\n"
                                               "fn main(%x: (2) f32) -> (%y) {\n"
                                               "  %y = nn.relu(%x) : (2) f32\n"
                                               "}\n");
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Functions stand in any order: one may be called before it comes, and main may be the last. */
START_TEST(functions_stand_in_any_order)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text = quoted(
        &ctx->perm, HEAD
        "{'name': 'f', 'compiler': 'c', 'params': [" X "], 'constants': [], 'nodes': [" RELU
        "], 'results': [{'value': 'y'}]}, " MAIN(
            "", "{'op': 'call', 'callee': 'f', 'inputs': ['x'], " Y "}", "{'value': 'y'}") "]}");
    struct module *module = module_read_json_bytes(ctx, text, strlen(text), NULL);

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_str_eq(graph_text(module, true), "module opset 0\n\n"
                                               "fn main(%x: (2) f32) -> (%y) {\n"
                                               "  %y = call f(%x) : (2) f32\n"
                                               "}\n\n"
                                               "fn f(%x: (2) f32) -> (%y) compiler \"c\" {\n"
                                               "  %y = nn.relu(%x) : (2) f32\n"
                                               "}\n");
    module_free(module);
    ctx_free(ctx);
}
END_TEST

#define CONSTANT(type, values) GRAPH("{'name': 'c', " type ", 'values': " values "}", "", "")
#define NODE(node) GRAPH("", node, "")
#define CALL(callee) "{'op': 'call', 'callee': '" callee "', 'inputs': ['x'], " Y "}"
#define FUNCTION(name, nodes)                                                                      \
    "{'name': '" name "', 'params': [" X "], 'constants': [], 'nodes': [" nodes                    \
    "], 'results': [{'value': 'y'}]}"
#define CLIP(attributes)                                                                           \
    NODE("{'op': 'clip', 'inputs': ['x'], " Y ", 'attributes': " attributes "}")
#define MEAN(attributes)                                                                           \
    NODE("{'op': 'mean', 'inputs': ['x'], " Y ", 'attributes': " attributes "}")
#define NAMED(head)                                                                                \
    HEAD "{'name': 'main', " head " 'params': [], 'constants': [], 'nodes': [], 'results': []}]}"

static const struct {
    const char *text, *error;
} wrong[] = {
    /* what is known of the numbers */
    { TYPED("'dtype': 'afp', 'shape': [2]"), "params[0]: afp without bits" },
    { TYPED("'dtype': 'afp<9,9,9>', 'shape': [2]"), "params[0].dtype: found 'afp<9,9,9>'" },
    { TYPED("'dtype': 'f32<1,1,1>', 'shape': [2]"), "params[0].dtype: found 'f32<1,1,1>'" },
    { TYPED("'dtype': 'f32', 'shape': [2], 'calibrated': 3"),
      "calibrated: found 3, wanted an obj" },
    { TYPED("'dtype': 'f32', 'shape': [2], 'calibrated': {}"), "calibrated.min: found nothing" },
    { TYPED("'dtype': 'f32', 'shape': [2], 'calibrated': {'min': 2, 'max': 1, 'threshold': 0}"),
      "params[0]: it was calibrated from 2 to 1" },
    { TYPED("'dtype': 'f32', 'shape': [2], 'calibrated': {'min': 0, 'max': 1, 'threshold': 'nan'}"),
      "params[0]: the threshold nan" },
    { TYPED("'dtype': 'i8', 'shape': [2], 'scaled': {'scale': 1}"),
      "scaled.scale: found 1, wanted" },
    { TYPED("'dtype': 'i8', 'shape': [2], 'scaled': {'scale': [1, 2]}"),
      "scaled.scale: found 2 elements, wanted 1" },
    { TYPED("'dtype': 'i8', 'shape': [2], 'scaled': {'axis': 1, 'scale': [1, 2]}"),
      "scaled.axis: found 1, wanted a whole number, -1 to 0" },
    { TYPED("'dtype': 'i8', 'shape': [68719476736], 'scaled': {'axis': 0, 'scale': [1, 2]}"),
      "scaled.scale: found 2 elements, wanted 68719476736" },
    { TYPED("'dtype': 'i8', 'shape': [2], 'scaled': {'scale': ['x']}"), "scale[0]: found 'x'" },
    { TYPED("'dtype': 'i8', 'shape': [2], 'scaled': {'scale': [0]}"), "params[0]: scale 0 is 0" },
    { TYPED("'dtype': 'i8', 'shape': [2], 'scaled': {'scale': [1], 'zero': [300]}"),
      "params[0]: zero point 300 is not a number of type i8" },
    { TYPED("'dtype': 'i8', 'shape': [2], 'scaled': {'scale': [1], 'zero': [0.5]}"),
      "zero[0]: found 0.5, wanted a whole number of 32 bits" },
    { TYPED("'dtype': 'i8', 'shape': [2], 'scaled': {'scale': [1]}, 'blocks': {}"),
      "params[0]: found two of" },
    { TYPED("'dtype': 'f4e2m1', 'shape': [2], 'blocks': {'block': 2, 'scale': [1, 1]}"),
      "params[0]: only constants have block scales" },
    { TYPED("'dtype': 'f4e2m1', 'shape': [2], 'blocks': {'block': 0, 'scale': []}"),
      "blocks.block: found 0, wanted a whole number, 1 to" },
    { TYPED("'dtype': 'f4e2m1', 'shape': [2], 'scales': {}"),
      "params[0].scales: there is no such" },
    /* no JSON, or another one */
    { "", "line 1, column 1: this is not JSON" },
    { "{'format':\n  ?}", "line 2, column 3: this is not JSON" },
    { "[[[[", "this is not JSON" },
    { "[]", "the file: found a list, wanted an object" },
    { "{} {}", "line 1, column 4: found more text behind the graph" },
    { "{'format': 'a\\u0000'}", "line 1, column 14: found \\u0000" },
    { "{}", "format: found nothing, wanted a text" },
    { "{'format': 'net'}", "format: found 'net', wanted 'relayc-graph'" },
    { "{'format': 'relayc-graph'}", "version: found nothing, wanted a whole number, 1 to 1" },
    { "{'format': 'relayc-graph', 'version': 2}", "version: found 2, wanted" },
    { "{'format': 'relayc-graph', 'version': 1}", "functions: found nothing, wanted a list" },
    { HEAD "], 'opset': -1}", "opset: found -1, wanted a whole number, 0 to" },
    { HEAD "], 'opset': 1e300}", "opset: found 1e+300" },
    { HEAD "], 'opset': 1.5}", "opset: found 1.5" },
    { HEAD "], 'producer': 7}", "producer: found 7, wanted a text" },
    { HEAD "], 'producer': '\\\\n'}",
      "producer: found '\\x5Cn', wanted a text whose only escapes" },
    { HEAD "], 'function': 1}", "did you mean \"functions\"?" },
    { HEAD "], 'functions': []}", "functions: the key is given twice" },
    { HEAD "]}", "functions: found no function main" },

    /* functions */
    { HEAD "7]}", "functions[0].name: found nothing, wanted a text that is not empty" },
    { HEAD "{'name': ''}]}", "functions[0].name: found ''" },
    { HEAD MAIN("", "", "") ", " MAIN("", "", "") "]}", "functions[1].name: found 'main', which" },
    { HEAD "{'name': 'main'}]}", "functions[0].params: found nothing, wanted a list" },
    { NAMED("'compiler': [],"), "functions[0].compiler: found a list, wanted a text" },
    { NAMED("'composite': null,"), "functions[0].composite: found null, wanted a text" },
    { NAMED("'global_symbol': 'a-b',"),
      "functions[0].global_symbol: found 'a-b', wanted an ident" },
    { NAMED("'global_symbol': '2a',"), "found '2a', wanted an identifier" },
    { NAMED("'params': [],"), "functions[0].params: the key is given twice" },
    { HEAD "{'name': 'f', 'global_symbol': 's', 'params': [], 'constants': [], 'nodes': [], "
           "'results': []}, {'name': 'main', 'global_symbol': 's', 'params': [], 'constants': [], "
           "'nodes': [], 'results': []}]}",
      "functions[1].global_symbol: found 's', which another function has" },

    { NAMED("'compiler': 'c',"), "functions[0]: found \"compiler\", wanted none: this is main" },

    /* values */
    { CONSTANT("'dtype': 'f33', 'shape': []", "[1]"),
      "functions[0].constants[0].dtype: found 'f33', wanted an element type" },
    { CONSTANT("'dtype': 'f32', 'shape': 3", "[1]"), "shape: found 3, wanted a list" },
    { CONSTANT("'dtype': 'f32', 'shape': [-1]", "[1]"),
      "functions[0].constants[0].shape[0]: found -1, wanted a whole number of 0 or more" },
    { CONSTANT("'dtype': 'f32', 'shape': [1.5]", "[1]"), "shape[0]: found 1.5" },
    { CONSTANT("'dtype': 'f32', 'shape': ['7']", "[1]"), "found 1 elements, wanted 7" },
    { CONSTANT("'dtype': 'f32', 'shape': [9007199254740993]", "[1]"), "shape[0]: found" },
    { CONSTANT("'dtype': 'f32', 'shape': ['99999999999999999999']", "[1]"),
      "shape[0]: found '999" },
    { CONSTANT("'dtype': 'f32', 'shape': [1,1,1,1,1,1,1,1,1]", "[1]"),
      "shape: found 9 extents, wanted at most 8" },
    { CONSTANT("'dtype': 'f32', 'shape': [3000000000, 3000000000, 3000000000]", "[1]"),
      "in functions[0].constants[0] of the JSON graph" },
    { CONSTANT("'dtype': 'f32', 'shape': [2]", "[1]"),
      "functions[0].constants[0].values: found 1 elements, wanted 2, of type (2) f32" },
    { CONSTANT("'dtype': 'i8', 'shape': [2]", "[1, 128]"),
      "constants[0].values[1]: found 128, wanted an element of type i8" },
    { CONSTANT("'dtype': 'u8', 'shape': [1]", "[-1]"), "found -1, wanted an element of type u8" },
    { CONSTANT("'dtype': 'u64', 'shape': [1]", "[-1]"), "wanted an element of type u64" },
    { CONSTANT("'dtype': 'i64', 'shape': [1]", "[9007199254740993]"), "an element of type i64" },
    { CONSTANT("'dtype': 'i64', 'shape': [1]", "['9223372036854775808']"), "element of type i64" },
    { CONSTANT("'dtype': 'i32', 'shape': [1]", "[0.5]"), "found 0.5, wanted" },
    { CONSTANT("'dtype': 'f32', 'shape': [1]", "[1e999]"), "found inf, wanted" },
    { CONSTANT("'dtype': 'f32', 'shape': [1]", "['1 ']"), "found '1 ', wanted" },
    { CONSTANT("'dtype': 'f32', 'shape': [1]", "[true]"), "found true, wanted" },
    { CONSTANT("'dtype': 'f8e4m3', 'shape': [1]", "[1]"), "an element of type f8e4m3" },
    { CONSTANT("'dtype': 'f32', 'shape': [0]", "{}"), "values: found an object, wanted a list" },
    { GRAPH("{'name': 'c', 'dtype': 'f32', 'shape': [2]}", "", ""),
      "functions[0].constants[0]: found no \"values\"" },
    { GRAPH("{'name': 'x', 'dtype': 'f32', 'shape': [1], 'values': [1]}", "", ""),
      "functions[0].constants[0].name: found 'x', which is the name of a value of params[0]" },
    { GRAPH("{'dtype': 'f32', 'shape': [1], 'values': [1]}", "", ""),
      "functions[0].constants[0].name: found nothing, wanted a text" },

    /* nodes */
    { NODE("'add'"), "functions[0].nodes[0]: found 'add', wanted an object" },
    { NODE("{'op': 'nn.rely', 'inputs': ['x'], " Y "}"), "did you mean nn.relu?" },
    { NODE("{'op': 'return', 'inputs': ['x'], 'outputs': []}"), "nodes[0].op: found 'return'" },
    { NODE("{'op': 'add', 'inputs': ['x', 7], " Y "}"),
      "functions[0].nodes[0].inputs[1]: found 7, wanted the name of a value" },
    { NODE("{'op': 'add', 'inputs': ['x', 'w'], " Y "}"),
      "functions[0].nodes[0].inputs[1]: found 'w', wanted the name of a value of this function" },
    { NODE("{'op': 'add', 'inputs': ['x', null], " Y "}"), "input 1 of add is missing" },
    { NODE("{'op': 'add', 'inputs': ['x'], " Y "}"), "in functions[0].nodes[0] of the JSON graph" },
    { NODE("{'op': 'add', 'inputs': ['x', 'y'], " Y "}"),
      "inputs[1]: found 'y', which nodes[0] computes only then" },
    { NODE("{'op': 'nn.relu', 'inputs': ['y'], 'outputs': [{'name': 'z'}]}, "
           "{'op': 'nn.relu', 'inputs': ['z'], " Y "}"),
      "nodes[0].inputs[0]: found 'y', which nodes[1] computes only then" },
    { NODE("{'op': 'nn.relu', 'inputs': 'x', " Y "}"), "inputs: found 'x', wanted a list" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x']}"), "outputs: found nothing, wanted a list" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x'], 'outputs': []}"), "found no outputs" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x'], 'outputs': [{'name': 'y'}, {'name': 'z'}]}"),
      "nodes[0]: found 2 outputs, wanted 1" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x'], 'outputs': ['y']}"),
      "outputs[0]: found 'y', wanted an object" },
    { NODE(RELU ", " RELU),
      "nodes[1].outputs[0].name: found 'y', which is the name of a value of" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x'], 'outputs': [{'name': 'y', 'dtype': 'f32', "
           "'shape': [3]}]}"),
      "outputs[0]: found the type (3) f32, wanted (2) f32, which inference gives" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x'], " Y ", 'attributes': {'axis': 1}}"),
      "nodes[0].attributes.axis: there is no such key" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x'], " Y ", 'callee': 'main'}"), "found \"callee\"" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x'], " Y ", 'origins': [{'index': 0}]}"),
      "nodes[0].origins[0].op_type: found nothing, wanted a text" },
    { NODE("{'op': 'nn.relu', 'inputs': ['x'], " Y ", 'origins': [{'op_type': 'R', 'index': -2}]}"),
      "nodes[0].origins[0].index: found -2, wanted" },

    /* attributes */
    { NODE("{'op': 'clip', 'inputs': ['x'], " Y "}"), "attributes: found nothing, wanted an obj" },
    { CLIP("{}"), "functions[0].nodes[0].attributes.a_min: found nothing, wanted a number" },
    { CLIP("{'a_min': 0, 'a_max': 'Inf'}"), "attributes.a_max: found 'Inf', wanted a number" },
    { CLIP("{'a_min': 0, 'a_max': true}"), "attributes.a_max: found true" },
    { CLIP("{'a_min': 0, 'a_max': 1, 'amin': 1}"), "did you mean \"a_min\"?" },
    { CLIP("{'a_min': 0, 'a_max': 1, 'a_max': 2}"), "attributes.a_max: the key is given twice" },
    { MEAN("{'axis': [0.5], 'keepdims': true}"),
      "functions[0].nodes[0].attributes.axis[0]: found 0.5, wanted a whole number" },
    { MEAN("{'axis': 0, 'keepdims': true}"), "attributes.axis: found 0, wanted a list" },
    { MEAN("{'axis': [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0], 'keepdims': true}"),
      "attributes.axis: found 17 numbers, wanted at most 16" },
    { MEAN("{'axis': [0], 'keepdims': 1}"), "attributes.keepdims: found 1, wanted true or false" },
    { NODE("{'op': 'cast', 'inputs': ['x'], " Y
           ", 'attributes': {'dtype': 'f', 'saturate': true}}"),
      "attributes.dtype: found 'f', wanted an element type" },
    { NODE("{'op': 'nn.gelu', 'inputs': ['x'], " Y ", 'attributes': {'approximate': null}}"),
      "attributes.approximate: found null, wanted a text" },

    /* calls */
    { NODE(CALL("f")), "nodes[0].callee: found 'f', wanted the name of a function" },
    { NODE("{'op': 'call', 'inputs': ['x'], " Y "}"), "callee: found nothing, wanted a text" },
    { NODE(CALL("main")), "callee: found 'main', wanted a function that does not call this one" },
    { HEAD FUNCTION("main", CALL("f")) ", " FUNCTION("f", CALL("g")) ", " FUNCTION("g",
                                                                                   CALL("f")) "]}",
      "functions[2].nodes[0].callee: found 'f', wanted a function that does not call this one" },
    { HEAD FUNCTION("main", CALL("f1")) ", " FUNCTION("f1", CALL("f2")) ", " FUNCTION(
          "f2",
          CALL(
              "f"
              "3")) ", " FUNCTION("f3",
                                  CALL(
                                      "f4")) ", " FUNCTION("f4",
                                                           CALL(
                                                               "f5")) ", " FUNCTION("f5",
                                                                                    CALL(
                                                                                        "f6")) ","
                                                                                               " " FUNCTION("f6", CALL("f7")) ", " FUNCTION(
                                                                                                   "f7",
                                                                                                   CALL(
                                                                                                       "f8")) ","
                                                                                                              " " FUNCTION(
                                                                                                                  "f8",
                                                                                                                  RELU) "]}",
      "functions[7].nodes[0].callee: calls are nested more than 8 deep" },
    { HEAD FUNCTION("main", "{'op': 'call', 'callee': 'f', 'inputs': [], " Y
                            "}") ", " FUNCTION("f", RELU) "]}",
      "functions[0].nodes[0]: found 0 inputs and 1 outputs, wanted 1 and 1, as 'f' has them" },
    { HEAD FUNCTION("main", "{'op': 'call', 'callee': 'f', 'inputs': [null], " Y
                            "}") ", " FUNCTION("f", RELU) "]}",
      "functions[0].nodes[0].inputs[0]: found null, wanted a value" },
    { HEAD FUNCTION("main", CALL("f")) ", {'name': 'f', 'params': [{'name': 'x', 'dtype': 'i8', "
                                       "'shape': [2]}], 'constants': [], 'nodes': [], 'results': "
                                       "[{'value': 'x'}]}]}",
      "functions[0].nodes[0].inputs[0]: found the type (2) f32, wanted (2) i8" },

    /* results */
    { GRAPH("", "", "'x'"), "functions[0].results[0]: found 'x', wanted an object" },
    { GRAPH("", "", "{'value': 'q'}"), "functions[0].results[0].value: found 'q', wanted" },
    { GRAPH("", "", "{'value': 'x', 'name': 1}"), "results[0].name: found 1, wanted a text" },
};

static bool has_error(const struct ctx *ctx, const char *part)
{
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (strstr(d->message, part) || (d->note && strstr(d->note, part)) ||
            (d->help && strstr(d->help, part)))
            return true;
    return false;
}

static bool has_internal_error(const struct ctx *ctx)
{
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->code == DIAG_INTERNAL)
            return true;
    return false;
}

START_TEST(errors_say_where_what_was_found_and_what_was_wanted)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text = quoted(&ctx->perm, wrong[_i].text);

    ck_assert_ptr_null(module_read_json_bytes(ctx, text, strlen(text), NULL));
    ck_assert_msg(has_error(ctx, wrong[_i].error), "%s\ngives %s\nwanted %s", text,
                  expect_text(ctx), wrong[_i].error);
    ck_assert_msg(!has_internal_error(ctx), "%s\ngives %s", text, expect_text(ctx));
    ctx_free(ctx);
}
END_TEST

/* One run tells all that is wrong, and nothing that only follows from it. */
START_TEST(all_errors_are_reported_at_once)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text =
        quoted(&ctx->perm, GRAPH("{'name': 'c', 'dtype': 'f', 'shape': [1], 'values': [1]}",
                                 "{'op': 'nn.rely', 'inputs': ['x'], 'outputs': [{'name': 'a'}]}, "
                                 "{'op': 'add', 'inputs': ['a', 'c'], 'outputs': [{'name': 'b'}]}, "
                                 "{'op': 'add', 'inputs': ['b', 'w'], 'outputs': [{'name': 'd'}]}",
                                 "{'value': 'd'}, {'value': 'e'}"));

    ck_assert_ptr_null(module_read_json_bytes(ctx, text, strlen(text), NULL));
    ck_assert(has_error(ctx, "constants[0].dtype: found 'f'"));
    ck_assert(has_error(ctx, "nodes[0].op: found 'nn.rely'"));
    ck_assert(has_error(ctx, "nodes[2].inputs[1]: found 'w'"));
    ck_assert(has_error(ctx, "results[1].value: found 'e'"));
    ck_assert_int_eq(ctx->diags.n_errors, 4);
    ctx_free(ctx);
}
END_TEST

START_TEST(a_hundred_errors_are_enough)
{
    struct ctx *ctx = ctx_new(NULL);
    struct str text = { .arena = &ctx->perm };

    str_add(&text, "{\"format\": \"relayc-graph\", \"version\": 1, \"functions\": [");
    for (int i = 0; i < 100000; i++)
        str_add(&text, "7,");
    str_add(&text, "7]}");
    ck_assert_ptr_null(module_read_json_bytes(ctx, str_text(&text), text.n, NULL));
    ck_assert_int_eq(ctx->diags.n_errors, 100);
    ctx_free(ctx);
}
END_TEST

/* Each costs its length, not its square. */
START_TEST(long_lists_are_read)
{
    enum { LONG = 100000 };
    struct ctx *ctx = ctx_new(NULL);
    struct str text = { .arena = &ctx->perm };
    struct module *module;

    str_add(&text, "{'format': 'relayc-graph', 'version': 1, 'functions': [{'name': 'main', "
                   "'constants': [], 'nodes': [], 'params': [");
    for (int i = 0; i < LONG; i++)
        str_printf(&text, "%s{'name': 'x%d', 'dtype': 'f32', 'shape': [2]}", i ? "," : "", i);
    str_add(&text, "], 'results': [");
    for (int i = 0; i < LONG; i++)
        str_printf(&text, "%s{'value': 'x%d'}", i ? "," : "", LONG - 1 - i);
    str_add(&text, "]}]}");
    module = module_read_json_bytes(ctx, quoted(&ctx->perm, str_text(&text)), text.n, NULL);
    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->n_params, LONG);
    ck_assert_ptr_eq(module->main->ret->inputs[0], module->main->params[LONG - 1]);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    enum { DEEP = 1000000 };
    struct ctx *ctx = ctx_new(NULL);
    char *text = arena_alloc(&ctx->perm, DEEP);

    memset(text, '[', DEEP);
    ck_assert_ptr_null(module_read_json_bytes(ctx, text, DEEP, NULL));
    ck_assert(has_error(ctx, "this is not JSON, or is nested more than 1000 deep"));
    ctx_free(ctx);
}
END_TEST

/* --- the data file ---------------------------------------------------------------------------- */

/* 17 floats of 0 in net.bin: their CRC-32 is that of 68 zero bytes. */
#define BIG(offset, bytes, checksum)                                                               \
    "{'name': 'c', 'dtype': 'f32', 'shape': [17], 'offset': " offset ", 'bytes': " bytes           \
    ", 'crc32': '" checksum "'}"
#define WITH_DATA(file, bytes, constant)                                                           \
    "{'format': 'relayc-graph', 'version': 1, 'data': {'file': " file ", 'bytes': " bytes          \
    "}, 'functions': [" MAIN(constant, "", "{'value': 'c'}") "]}"
#define ZEROS "10d76ead"

static const struct {
    const char *text, *error; /* NULL = it is read */
} with_data[] = {
    { WITH_DATA("'net.bin'", "132", BIG("0", "68", ZEROS)), NULL },
    { WITH_DATA("'net.bin'", "132", BIG("64", "68", ZEROS)), NULL },
    { WITH_DATA("'net.bin'", "132", BIG("'64'", "68", ZEROS)), NULL },
    { WITH_DATA("'net.bin'", "132", BIG("64", "68", "00000000")),
      "functions[0].constants[0]: found the checksum " ZEROS " in net.bin, wanted 00000000" },
    { WITH_DATA("'net.bin'", "132", BIG("64", "68", "0")), "crc32: found '0', wanted" },
    { WITH_DATA("'net.bin'", "132", BIG("128", "68", ZEROS)),
      "offset: found 128, wanted a multiple of 64 with 68 bytes behind it in net.bin, which has "
      "132" },
    { WITH_DATA("'net.bin'", "132", BIG("4", "68", ZEROS)), "offset: found 4, wanted a multiple" },
    { WITH_DATA("'net.bin'", "132", BIG("-64", "68", ZEROS)), "offset: found -64, wanted" },
    { WITH_DATA("'net.bin'", "132", BIG("'9223372036854775807'", "68", ZEROS)),
      "offset: found '9" },
    { WITH_DATA("'net.bin'", "132", BIG("'9223372036854775744'", "68", ZEROS)),
      "offset: found '9" },
    { WITH_DATA("'net.bin'", "132", BIG("0", "64", ZEROS)), "bytes: found 64, wanted a whole" },
    { WITH_DATA("'net.bin'", "133", BIG("0", "68", ZEROS)), "data.bytes: found 133, wanted 132" },
    { WITH_DATA("'none.bin'", "132", BIG("0", "68", ZEROS)), "data.file: none.bin cannot be used" },
    { WITH_DATA("'../net.bin'", "132", BIG("0", "68", ZEROS)), "data.file: ../net.bin cannot be" },
    { WITH_DATA("'/etc/passwd'", "132", BIG("0", "68", ZEROS)),
      "data.file: /etc/passwd cannot be" },
    { WITH_DATA("'.'", "132", BIG("0", "68", ZEROS)), "data.file: . cannot be used" },
    { WITH_DATA("7", "132", BIG("0", "68", ZEROS)), "data.file: found 7, wanted a text" },
    { GRAPH(BIG("0", "68", ZEROS), "", ""),
      "found no \"values\", wanted them, or a \"data\" file" },
};

START_TEST(payloads_lie_within_the_data_file)
{
    static const char zeros[132];
    struct temp_dir dir = temp_dir_new();
    struct ctx *ctx = ctx_new(NULL);
    const char *text = quoted(&dir.arena, with_data[_i].text);
    struct module *module;

    temp_file(&dir, "net.bin", zeros, sizeof zeros);
    module = module_read_json(ctx, temp_file(&dir, "net.json", text, strlen(text)));
    ck_assert_msg(!module == !!with_data[_i].error, "%s\n%s", text, expect_text(ctx));
    if (with_data[_i].error)
        ck_assert_msg(has_error(ctx, with_data[_i].error), "%s\ngives %s\nwanted %s", text,
                      expect_text(ctx), with_data[_i].error);
    module_free(module);
    ctx_free(ctx);
    temp_dir_free(&dir);
}
END_TEST

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
    Suite *suite = suite_create("json_hostile");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, what_inference_knows_may_be_left_out);
    tcase_add_test(tests, functions_stand_in_any_order);
    tcase_add_loop_test(tests, errors_say_where_what_was_found_and_what_was_wanted, 0,
                        N_ROWS(wrong));
    tcase_add_test(tests, all_errors_are_reported_at_once);
    tcase_add_test(tests, a_hundred_errors_are_enough);
    tcase_add_test(tests, long_lists_are_read);
    tcase_add_test(tests, deep_nesting_is_refused);
    tcase_add_loop_test(tests, payloads_lie_within_the_data_file, 0, N_ROWS(with_data));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
