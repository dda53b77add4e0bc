/* Regions of other targets that are functions of the user's (formats extern and json), or bit
 * streams. */
#include <check.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/bench.h"
#include "tests/support/expect.h"

static struct bench bench;

static void set_up(void)
{
    bench = bench_new();
}

static void tear_down(void)
{
    bench_free(&bench);
}

/* --- format extern and json ------------------------------------------------------------------- */

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
    "}\n"
    "fn k(%x: (3) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
    "  const @\"first\\x22w\\x22\" : (3) f32 = [1, 2, 3]\n"
    "  %y = add(%x, @\"first\\x22w\\x22\") : (3) f32\n"
    "}\n"
    "fn l(%x: (3) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
    "  const @second : (3) f32 = [1, 2, 3]\n"
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
        "    if (net_run(x, y, arena.bytes) != NET_REGION_FAILED + 0)\n"
        "        return 2;\n"
        "    return net_step(0, x, y, arena.bytes) != NET_REGION_FAILED;\n"
        "}\n";
    struct target *target = toy_target(bench.ctx, json[_i], user_files);
    const struct targets *targets = toy_targets(bench.ctx, 1, &target);
    struct codegen_result result;

    bench_check(&bench, user_text, targets, WEIGHTS_AUTO, false);
    bench_check(&bench, user_text, targets, WEIGHTS_FILE, true);
    result = bench_generate(&bench, user_text, targets, WEIGHTS_AUTO, false);
    ck_assert_int_eq(result.n_host_files, 1);
    ck_assert_str_eq(result.host_files[0].name, "user.c");
    ck_assert_str_eq(result.host_flags, "-lm");
    bench_has(&bench, "net_toy.h", "#include \"relayc_abi.h\"\n");
    bench_has(&bench, "net_toy.h",
              "extern const struct relayc_constant net_toy_add_constants[2];\n");
    bench_has(&bench, "net_toy.c", "    { \"second\", { net_first_w, RELAYC_F32, 1, { 3 } } },\n");
    bench_has(&bench, "relayc_abi.h", "struct relayc_tensor {\n");
    ck_assert_int_eq(system(arena_printf(&bench.ctx->perm,
                                         "cd %s && echo '#include \"net_toy.h\"' >h.cc && "
                                         "c++ -Wall -Wextra -pedantic -Werror -fsyntax-only h.cc",
                                         bench.dir.path)),
                     0);
    /* the value between the two, and 12 bytes for each: 16 + 16 */
    bench_has(&bench, "net.json", "\"scratch_bytes\":\t32");
    temp_file(&bench.dir, "user.c", user_files[0].text, strlen(user_files[0].text));
    ck_assert_int_eq(bench_run(&bench, source, "gcc"), 0);
    ck_assert_int_eq(bench_run(&bench, source, "clang"), 0);
    if (_i == 1) {
        cJSON *graph = cJSON_Parse(bench_file(&bench, "net_toy_add.json"));

        ck_assert_ptr_nonnull(graph);
        cJSON_Delete(graph);
    }
}
END_TEST

static bool add_arrays(const struct composite_row *row, const struct match *match,
                       struct lowering *lowering)
{
    static const int32_t first[] = { 7, 8 }, second[] = { 9, 10 };
    const struct type type = type_make(DTYPE_I32, 1, (int64_t[]){ 2 });

    (void)row, (void)match;
    lowering_array(lowering, "first", &type, first, "");
    lowering_array(lowering, "second", &type, second, "");
    return true;
}

START_TEST(arrays_of_hooks_stand_in_the_table)
{
    static const struct target_hooks hooks = { .target = "toy", .lower = add_arrays };
    struct target *target = toy_target(bench.ctx, USER_JSON("extern"), user_files);

    target->hooks = &hooks;
    bench_generate(&bench, user_text, toy_targets(bench.ctx, 1, &target), WEIGHTS_AUTO, false);
    bench_has(&bench, "net_toy.c",
              "    { \"a.first\", { net_a_first, RELAYC_I32, 1, { 2 } } },\n"
              "    { \"a.second\", { net_a_second, RELAYC_I32, 1, { 2 } } },\n"
              "    { \"second\", { net_first_w, RELAYC_F32, 1, { 3 } } },\n"
              "    { \"y.first\", { net_a_first, RELAYC_I32, 1, { 2 } } },\n");
}
END_TEST

/* Texts of the model and of the target stand in comments, in JSON and in C strings. */
START_TEST(hostile_texts_do_no_harm)
{
    static const char text[] =
        "fn main(%\"*/ int x;\": (3) f32) -> (%\"y\\x0A\") {\n"
        "  %\"y\\x0A\" = call \"*/toy\\x22\"(%\"*/ int x;\") : (3) f32  from Add \"*/ #error "
        "\\x0A#error\" #0\n"
        "}\n"
        "fn \"*/toy\\x22\"(%x: (3) f32) -> (%y) compiler \"toy\" global_symbol \"1 + /* toy\" {\n"
        "  %y = call \"k*/\"(%x) : (3) f32  from Add \"*/ #error \\x0A#error\" #0\n"
        "}\n"
        "fn \"k*/\"(%\"x*/\": (3) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
        "  const @\"\\x22, 0 };\\x0A#error ?"
        "?/\\x5C\" : (3) f32 = [1, 2, 3]\n"
        "  %y = add(%\"x*/\", @\"\\x22, 0 };\\x0A#error ?"
        "?/\\x5C\") : (3) f32\n"
        "}\n";
    static const struct toy_file files[] = {
        { "user.c", "#include \"net_toy.h\"\n"
                    "int net_n1_toy(const float *x, float *y, void *scratch)\n"
                    "{\n"
                    "    const float *w = net_n1_toy_constants[0].tensor.data;\n\n"
                    "    (void)scratch;\n"
                    "    for (int i = 0; i < 3; i++)\n"
                    "        y[i] = x[i] + w[i];\n"
                    "    return 0;\n"
                    "}\n" },
        { NULL, NULL }
    };
    struct target *target = toy_target(bench.ctx, USER_JSON("json"), files);
    const struct targets *targets = toy_targets(bench.ctx, 1, &target);
    cJSON *json;

    target->description = "*/ #error\n";
    bench_check(&bench, text, targets, WEIGHTS_AUTO, true);
    bench_generate(&bench, text, targets, WEIGHTS_AUTO, false);
    json = cJSON_Parse(bench_file(&bench, "net.json"));
    ck_assert_ptr_nonnull(json);
    cJSON_Delete(json);
}
END_TEST

/* A tensor called as the table would be. */
START_TEST(a_table_has_its_name_for_itself)
{
    static const char text[] =
        "fn main(%x: (3) f32) -> (%y) {\n"
        "  %a = call ours(%x) : (3) f32\n"
        "  %y = call toy_add(%a) : (3) f32\n"
        "}\n"
        "fn ours(%x: (3) f32) -> (%y) compiler \"c\" composite \"c.add\" {\n"
        "  const @toy_add_constants : (3) f32 = [3, 2, 1]\n"
        "  %y = add(%x, @toy_add_constants) : (3) f32\n"
        "}\n"
        "fn toy_add(%x: (3) f32) -> (%y) compiler \"toy\" global_symbol \"toy_add\" {\n"
        "  %a = call k(%x) : (3) f32\n"
        "  %y = call l(%a) : (3) f32\n"
        "}\n"
        "fn k(%x: (3) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
        "  const @first_w_ : (3) f32 = [1, 2, 3]\n"
        "  %y = add(%x, @first_w_) : (3) f32\n"
        "}\n"
        "fn l(%x: (3) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
        "  const @second : (3) f32 = [1, 2, 3]\n"
        "  %y = add(%x, @second) : (3) f32\n"
        "}\n";
    struct target *target = toy_target(bench.ctx, USER_JSON("extern"), user_files);
    const struct targets *targets = toy_targets(bench.ctx, 1, &target);

    bench_check(&bench, text, targets, WEIGHTS_FILE, false);
    bench_generate(&bench, text, targets, WEIGHTS_INLINE, false);
    bench_has(&bench, "net.c", "static const float net_toy_add_constants_2[3] = {\n");
}
END_TEST

/* Every element type has its code. */
START_TEST(the_abi_knows_all_element_types)
{
    struct target *target = toy_target(bench.ctx, USER_JSON("extern"), user_files);

    bench_generate(&bench, user_text, toy_targets(bench.ctx, 1, &target), WEIGHTS_AUTO, false);
    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++) {
        char *name = arena_printf(&bench.ctx->perm, " RELAYC_%s = ", dtype_name((enum dtype)i));

        for (char *c = name; *c; c++)
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        bench_has(&bench, "relayc_abi.h", name);
    }
}
END_TEST

/* --- format stream ---------------------------------------------------------------------------- */

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
    "}\n"
    "fn add_(%a: (5) f32, %b: (5) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
    "  %y = add(%a, %b) : (5) f32\n"
    "}\n"
    "fn twice(%a: (5) f32) -> (%y) compiler \"toy\" composite \"toy.add\" {\n"
    "  %y = add(%a, %a) : (5) f32\n"
    "}\n"
    "fn multiply_(%a: (5) f32, %b: (5) f32) -> (%y) compiler \"toy\" composite \"toy.multiply\" {\n"
    "  %y = multiply(%a, %b) : (5) f32\n"
    "}\n";

START_TEST(streams_run_and_equal_ones_are_stored_once)
{
    static const struct target_hooks hooks = { .target = "toy", .assemble = assemble };
    struct target *target = toy_target(bench.ctx, stream_json, stream_files);
    const struct targets *targets = toy_targets(bench.ctx, 1, &target);
    const cJSON *regions;
    cJSON *json;

    target->hooks = &hooks;
    bench_check(&bench, stream_text, targets, WEIGHTS_AUTO, false);
    bench_check(&bench, stream_text, targets, WEIGHTS_FILE, true);
    bench_generate(&bench, stream_text, targets, WEIGHTS_AUTO, false);
    bench_has(&bench, "net_toy.c",
              "static const union net_toy_one_stream {\n    uint64_t word[16];\n"
              "    uint8_t v[128];\n} net_toy_one_stream CACHE_LINE = { {\n");
    bench_lacks(&bench, "net_toy.c", "toy_two_stream");
    bench_has(&bench, "net_toy.c",
              "uint8_t v[32];"); /* words also where it is short: it is aligned */
    json = cJSON_Parse(bench_file(&bench, "net.json"));
    regions = json_item(cJSON_GetArrayItem(json_item(json, "modules"), 1), "regions");
    ck_assert_int_eq(json_number(cJSON_GetArrayItem(regions, 1), "stream_bytes"), 128);
    /* Three times 20 bytes at once: two values between, and the scratch of a product. */
    ck_assert_int_eq(json_number(cJSON_GetArrayItem(regions, 0), "scratch_bytes"), 4 * 32);
    cJSON_Delete(json);
}
END_TEST

START_TEST(a_stream_needs_a_hook_and_a_template)
{
    static const struct target_hooks hooks = { .target = "toy", .assemble = assemble };
    struct target *target = toy_target(bench.ctx, stream_json, stream_files);
    const struct targets *targets = toy_targets(bench.ctx, 1, &target);

    bench_generate(&bench, stream_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(bench.ctx, DIAG_OFFLOAD, "but no hook that assembles one"));
    target->hooks = &hooks;
    target->region_template = NULL;
    bench_generate(&bench, stream_text, targets, WEIGHTS_AUTO, true);
    ck_assert(expect_error(bench.ctx, DIAG_OFFLOAD, "but no template \"region\""));
}
END_TEST

/* --- main ------------------------------------------------------------------------------------- */

int main(void)
{
    Suite *suite = suite_create("codegen_external_formats");
    TCase *tcase = tcase_create("codegen_external_formats");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, functions_of_the_user_get_their_constants, 0, 2);
    tcase_add_test(tcase, arrays_of_hooks_stand_in_the_table);
    tcase_add_test(tcase, hostile_texts_do_no_harm);
    tcase_add_test(tcase, a_table_has_its_name_for_itself);
    tcase_add_test(tcase, the_abi_knows_all_element_types);
    tcase_add_test(tcase, streams_run_and_equal_ones_are_stored_once);
    tcase_add_test(tcase, a_stream_needs_a_hook_and_a_template);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
