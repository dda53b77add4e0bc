/* The passes partition and optimise, on partitions made by hand. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/verify.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/hand_partition.h"
#include "tests/support/pass_case.h"
#include "tests/support/random_graph.h"

enum { SEED = 11 };

#define RNN                                                                                        \
    "{hidden_size=4, direction=\"\", activations=\"\", clip=0.0, linear_before_reset=false, "      \
    "input_forget=false, activation_alpha=[], activation_beta=[], batch_major=false}"

struct outline_case {
    const char *before, *regions, *after;
};

static const struct outline_case rows[] = {
    /* two nodes, one composite; the weight is bound inside, the activation's name stays in main */
    { "fn main(%x: (1,2,3,3) f32) -> (%z as \"out\") {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32 from Conv \"conv1\" #0\n"
      "  %r = nn.relu(%c) : (1,4,3,3) f32 from Relu \"relu1\" #1\n"
      "  %z = nn.softmax(%r) {axis=1} : (1,4,3,3) f32 from Softmax \"s\" #2\n"
      "}\n",
      "npu: conv2d_act(c r)",
      "fn main(%x: (1,2,3,3) f32) -> (%z as \"out\") {\n"
      "  %r = call npu_conv1(%x) : (1,4,3,3) f32  from Conv \"conv1\" #0 + Relu \"relu1\" #1\n"
      "  %z = nn.softmax(%r) {axis=1} : (1,4,3,3) f32  from Softmax \"s\" #2\n"
      "}\n"
      "\n"
      "fn npu_conv1(%x: (1,2,3,3) f32) -> (%r) compiler \"npu\" global_symbol \"npu_conv1\" {\n"
      "  %r = call r(%x) : (1,4,3,3) f32  from Conv \"conv1\" #0 + Relu \"relu1\" #1\n"
      "}\n"
      "\n"
      "fn r(%x: (1,2,3,3) f32) -> (%r) compiler \"npu\" composite \"npu.conv2d_act\" {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32  from Conv \"conv1\" #0\n"
      "  %r = nn.relu(%c) : (1,4,3,3) f32  from Relu \"relu1\" #1\n"
      "}\n" },

    /* two results, one of them a result of main and read inside as well; the third value that the
     * region computes stays inside */
    { "fn main(%x: (2,3) f32) -> (%a, %y) {\n"
      "  %a = nn.relu(%x) : (2,3) f32 from Relu \"a\" #0\n"
      "  %b = tanh(%a) : (2,3) f32 from Tanh \"b\" #1\n"
      "  %c = sigmoid(%b) : (2,3) f32 from Sigmoid \"c\" #2\n"
      "  %y = negative(%c) : (2,3) f32 from Neg \"y\" #3\n"
      "}\n",
      "npu: one(a) two(b) three(c)",
      "fn main(%x: (2,3) f32) -> (%a, %y) {\n"
      "  %a, %c = call npu_a(%x) : (2,3) f32, (2,3) f32  from Relu \"a\" #0 + Tanh \"b\" #1 + "
      "Sigmoid \"c\" #2\n"
      "  %y = negative(%c) : (2,3) f32  from Neg \"y\" #3\n"
      "}\n"
      "\n"
      "fn npu_a(%x: (2,3) f32) -> (%a, %c) compiler \"npu\" global_symbol \"npu_a\" {\n"
      "  %a = call a(%x) : (2,3) f32  from Relu \"a\" #0\n"
      "  %b = call b(%a) : (2,3) f32  from Tanh \"b\" #1\n"
      "  %c = call c(%b) : (2,3) f32  from Sigmoid \"c\" #2\n"
      "}\n"
      "\n"
      "fn a(%x: (2,3) f32) -> (%a) compiler \"npu\" composite \"npu.one\" {\n"
      "  %a = nn.relu(%x) : (2,3) f32  from Relu \"a\" #0\n"
      "}\n"
      "\n"
      "fn b(%a: (2,3) f32) -> (%b) compiler \"npu\" composite \"npu.two\" {\n"
      "  %b = tanh(%a) : (2,3) f32  from Tanh \"b\" #1\n"
      "}\n"
      "\n"
      "fn c(%b: (2,3) f32) -> (%c) compiler \"npu\" composite \"npu.three\" {\n"
      "  %c = sigmoid(%b) : (2,3) f32  from Sigmoid \"c\" #2\n"
      "}\n" },

    /* values that are read several times are one parameter, in order of first use; one constant is
     * bound in both composites, and stays in main for the host; names without a model's node */
    { "fn main(%x: (2,3) f32, %y: (2,3) f32, %z: (2,3) f32) -> (%d, %h) {\n"
      "  const @k : (3) f32 = crc32:00000000\n"
      "  %a = add(%y, %y) : (2,3) f32\n"
      "  %b = multiply(%a, %x) : (2,3) f32\n"
      "  %c = add(%b, @k) : (2,3) f32\n"
      "  %t = subtract(%y, %z) : (2,3) f32\n"
      "  %u = divide(%t, @k) : (2,3) f32\n"
      "  %d = maximum(%c, %u) : (2,3) f32\n"
      "  %h = minimum(%x, @k) : (2,3) f32\n"
      "}\n",
      "npu: chain(a b c) chain(t u) max(d)",
      "fn main(%x: (2,3) f32, %y: (2,3) f32, %z: (2,3) f32) -> (%d, %h) {\n"
      "  const @k : (3) f32 = crc32:00000000\n"
      "  %d = call npu_a(%y, %x, %z) : (2,3) f32\n"
      "  %h = minimum(%x, @k) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn npu_a(%y: (2,3) f32, %x: (2,3) f32, %z: (2,3) f32) -> (%d) compiler \"npu\" "
      "global_symbol \"npu_a\" {\n"
      "  %c = call c(%y, %x) : (2,3) f32\n"
      "  %u = call u(%y, %z) : (2,3) f32\n"
      "  %d = call d(%c, %u) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn c(%y: (2,3) f32, %x: (2,3) f32) -> (%c) compiler \"npu\" composite \"npu.chain\" {\n"
      "  const @k : (3) f32 = crc32:00000000\n"
      "  %a = add(%y, %y) : (2,3) f32\n"
      "  %b = multiply(%a, %x) : (2,3) f32\n"
      "  %c = add(%b, @k) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn u(%y: (2,3) f32, %z: (2,3) f32) -> (%u) compiler \"npu\" composite \"npu.chain\" {\n"
      "  const @k : (3) f32 = crc32:00000000\n"
      "  %t = subtract(%y, %z) : (2,3) f32\n"
      "  %u = divide(%t, @k) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn d(%c: (2,3) f32, %u: (2,3) f32) -> (%d) compiler \"npu\" composite \"npu.max\" {\n"
      "  %d = maximum(%c, %u) : (2,3) f32\n"
      "}\n" },

    /* an input is computed behind the region's first node, a reader of its first result stands
     * before its last; two regions interleave; main is put in order, and no more than needed */
    { "fn main(%x: (2,3) f32, %y: (2,3) f32) -> (%h, %c, %f) {\n"
      "  %e = exp(%y) : (2,3) f32 from Exp \"e\" #0\n"
      "  %a = nn.relu(%x) : (2,3) f32 from Relu \"a\" #1\n"
      "  %h = tanh(%a) : (2,3) f32 from Tanh \"h\" #2\n"
      "  %b = sigmoid(%y) : (2,3) f32 from Sigmoid \"b\" #3\n"
      "  %c = add(%a, %b) : (2,3) f32 from Add \"c\" #4\n"
      "  %f = multiply(%e, %c) : (2,3) f32 from Mul \"f\" #5\n"
      "}\n",
      "npu: act(a) add(c)\n"
      "dsp: exp(e) mul(f)\n",
      "fn main(%x: (2,3) f32, %y: (2,3) f32) -> (%h, %c, %f) {\n"
      "  %b = sigmoid(%y) : (2,3) f32  from Sigmoid \"b\" #3\n"
      "  %a, %c = call npu_a(%x, %b) : (2,3) f32, (2,3) f32  from Relu \"a\" #1 + Add \"c\" #4\n"
      "  %h = tanh(%a) : (2,3) f32  from Tanh \"h\" #2\n"
      "  %f = call dsp_e(%y, %c) : (2,3) f32  from Exp \"e\" #0 + Mul \"f\" #5\n"
      "}\n"
      "\n"
      "fn npu_a(%x: (2,3) f32, %b: (2,3) f32) -> (%a, %c) compiler \"npu\" global_symbol "
      "\"npu_a\" {\n"
      "  %a = call a(%x) : (2,3) f32  from Relu \"a\" #1\n"
      "  %c = call c(%a, %b) : (2,3) f32  from Add \"c\" #4\n"
      "}\n"
      "\n"
      "fn a(%x: (2,3) f32) -> (%a) compiler \"npu\" composite \"npu.act\" {\n"
      "  %a = nn.relu(%x) : (2,3) f32  from Relu \"a\" #1\n"
      "}\n"
      "\n"
      "fn c(%a: (2,3) f32, %b: (2,3) f32) -> (%c) compiler \"npu\" composite \"npu.add\" {\n"
      "  %c = add(%a, %b) : (2,3) f32  from Add \"c\" #4\n"
      "}\n"
      "\n"
      "fn dsp_e(%y: (2,3) f32, %c: (2,3) f32) -> (%f) compiler \"dsp\" global_symbol \"dsp_e\" "
      "{\n"
      "  %e = call e(%y) : (2,3) f32  from Exp \"e\" #0\n"
      "  %f = call f(%e, %c) : (2,3) f32  from Mul \"f\" #5\n"
      "}\n"
      "\n"
      "fn e(%y: (2,3) f32) -> (%e) compiler \"dsp\" composite \"dsp.exp\" {\n"
      "  %e = exp(%y) : (2,3) f32  from Exp \"e\" #0\n"
      "}\n"
      "\n"
      "fn f(%e: (2,3) f32, %c: (2,3) f32) -> (%f) compiler \"dsp\" composite \"dsp.mul\" {\n"
      "  %f = multiply(%e, %c) : (2,3) f32  from Mul \"f\" #5\n"
      "}\n" },

    /* one region reads another's result, made before it; one that is read by nobody else becomes a
     * result twice over */
    { "fn main(%x: (2,3) f32) -> (%b, %b as \"again\", %c) {\n"
      "  %a = nn.relu(%x) : (2,3) f32\n"
      "  %b = tanh(%a) : (2,3) f32\n"
      "  %c = exp(%a) : (2,3) f32\n"
      "}\n",
      "npu: act(b)\n"
      "dsp: act(a)\n"
      "npu: exp(c)\n",
      "fn main(%x: (2,3) f32) -> (%b, %b as \"again\", %c) {\n"
      "  %a = call dsp_a(%x) : (2,3) f32\n"
      "  %b = call npu_b(%a) : (2,3) f32\n"
      "  %c = call npu_c(%a) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn npu_b(%a: (2,3) f32) -> (%b) compiler \"npu\" global_symbol \"npu_b\" {\n"
      "  %b = call b(%a) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn b(%a: (2,3) f32) -> (%b) compiler \"npu\" composite \"npu.act\" {\n"
      "  %b = tanh(%a) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn dsp_a(%x: (2,3) f32) -> (%a) compiler \"dsp\" global_symbol \"dsp_a\" {\n"
      "  %a = call a(%x) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn a(%x: (2,3) f32) -> (%a) compiler \"dsp\" composite \"dsp.act\" {\n"
      "  %a = nn.relu(%x) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn npu_c(%a: (2,3) f32) -> (%c) compiler \"npu\" global_symbol \"npu_c\" {\n"
      "  %c = call c(%a) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn c(%a: (2,3) f32) -> (%c) compiler \"npu\" composite \"npu.exp\" {\n"
      "  %c = exp(%a) : (2,3) f32\n"
      "}\n" },

    /* a root with several outputs: all are the composite's results, the region's are those that are
     * read */
    { "fn main(%x: (2,6) f32) -> (%y) {\n"
      "  %p, %q, %r = split(%x) {axis=1, sizes=[2,2,2]} : (2,2) f32, (2,2) f32, (2,2) f32\n"
      "  %y = add(%q, %r) : (2,2) f32\n"
      "}\n",
      "npu: split(p)",
      "fn main(%x: (2,6) f32) -> (%y) {\n"
      "  %q, %r = call npu_p(%x) : (2,2) f32, (2,2) f32\n"
      "  %y = add(%q, %r) : (2,2) f32\n"
      "}\n"
      "\n"
      "fn npu_p(%x: (2,6) f32) -> (%q, %r) compiler \"npu\" global_symbol \"npu_p\" {\n"
      "  %p, %q, %r = call p(%x) : (2,2) f32, (2,2) f32, (2,2) f32\n"
      "}\n"
      "\n"
      "fn p(%x: (2,6) f32) -> (%p, %q, %r) compiler \"npu\" composite \"npu.split\" {\n"
      "  %p, %q, %r = split(%x) {axis=1, sizes=[2,2,2]} : (2,2) f32, (2,2) f32, (2,2) f32\n"
      "}\n" },

    /* nothing but constants comes in */
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @k : (2,3) f32 = crc32:00000000\n"
      "  %a = nn.relu(@k) : (2,3) f32\n"
      "  %y = add(%a, %x) : (2,3) f32\n"
      "}\n",
      "npu: act(a)",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  %a = call npu_a() : (2,3) f32\n"
      "  %y = add(%a, %x) : (2,3) f32\n"
      "}\n"
      "\n"
      "fn npu_a() -> (%a) compiler \"npu\" global_symbol \"npu_a\" {\n"
      "  %a = call a() : (2,3) f32\n"
      "}\n"
      "\n"
      "fn a() -> (%a) compiler \"npu\" composite \"npu.act\" {\n"
      "  const @k : (2,3) f32 = crc32:00000000\n"
      "  %a = nn.relu(@k) : (2,3) f32\n"
      "}\n" },

    /* an absent input stays absent; nobody reads the composite, and nothing vanishes */
    { "fn main(%x: (2,1,3) f32, %h: (1,1,4) f32) -> (%x as \"same\") {\n"
      "  const @w : (1,4,3) f32 = crc32:00000000\n"
      "  const @r : (1,4,4) f32 = crc32:00000000\n"
      "  %o, %s = nn.rnn(%x, @w, @r, _, _, %h) " RNN " : (2,1,1,4) f32, (1,1,4) f32\n"
      "}\n",
      "npu: rnn(o)",
      "fn main(%x: (2,1,3) f32, %h: (1,1,4) f32) -> (%x as \"same\") {\n"
      "  %o, %s = call npu_o(%x, %h) : (2,1,1,4) f32, (1,1,4) f32\n"
      "}\n"
      "\n"
      "fn npu_o(%x: (2,1,3) f32, %h: (1,1,4) f32) -> (%o, %s) compiler \"npu\" global_symbol "
      "\"npu_o\" {\n"
      "  %o, %s = call o(%x, %h) : (2,1,1,4) f32, (1,1,4) f32\n"
      "}\n"
      "\n"
      "fn o(%x: (2,1,3) f32, %h: (1,1,4) f32) -> (%o, %s) compiler \"npu\" composite "
      "\"npu.rnn\" {\n"
      "  const @w : (1,4,3) f32 = crc32:00000000\n"
      "  const @r : (1,4,4) f32 = crc32:00000000\n"
      "  %o, %s = nn.rnn(%x, @w, @r, _, _, %h) " RNN " : (2,1,1,4) f32, (1,1,4) f32\n"
      "}\n" },

    /* no region at all */
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  %y = nn.relu(%x) : (2,3) f32\n"
      "}\n",
      "",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  %y = nn.relu(%x) : (2,3) f32\n"
      "}\n" },
};

/* What fuse_ops must leave alone: the calls of main and the functions of other compilers. */
static const char *foreign_text(struct module *module)
{
    struct str out = { .arena = &module->ctx->perm };
    bool inside = false;

    for (const char *line = graph_text(module, false); *line; line += strcspn(line, "\n") + 1) {
        const size_t n = strcspn(line, "\n");
        const char *text = arena_strndup(&module->ctx->perm, line, n);

        if (str_starts(text, "fn "))
            inside = strstr(text, "compiler \"npu\"") || strstr(text, "compiler \"dsp\"");
        if ((inside && *text) || strstr(text, "= call npu_") || strstr(text, "= call dsp_"))
            str_printf(&out, "%s\n", text);
    }
    return str_text(&out);
}

static void outline(struct partition *partition)
{
    struct module *module = partition->module;

    ck_assert_msg(partition_outline(partition) && partition_optimise(partition), "%s",
                  expect_text(module->ctx));
    module_sweep(module);
    ck_assert_msg(module_verify(module, "partition"), "%s\n%s", expect_text(module->ctx),
                  graph_text(module, false));
    arena_release(&module->ctx->scratch);
}

/* The module computes what it did, exactly; behind fuse_ops as well, which leaves the calls alone.
 */
static void check_numbers(struct module *module, const struct tensor *wanted, struct bulk *bulk)
{
    const char *const foreign = foreign_text(module);
    struct tensor *got = graph_run(module, SEED, bulk);
    const int n = module->main->ret->n_inputs;

    ck_assert_msg(got != NULL, "%s", expect_text(module->ctx));
    ck_assert_double_eq(graph_difference(got, wanted, n), 0);
    ck_assert_msg(pipeline_run_one(module, "fuse_ops"), "%s", expect_text(module->ctx));
    ck_assert_str_eq(foreign_text(module), foreign);
    for (const struct node *node = module->main->first; node; node = node->next)
        ck_assert(node->op == OP_CALL || node->op == OP_RESHAPE);
    got = graph_run(module, SEED, bulk);
    ck_assert_msg(got != NULL, "%s", expect_text(module->ctx));
    ck_assert_double_eq(graph_difference(got, wanted, n), 0);
}

START_TEST(outlines)
{
    const struct outline_case *row = &rows[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->before, SEED);
    struct module *wanted = graph_parse(ctx, row->after, SEED);
    struct partition *partition = hand_partition(module, row->regions);
    struct bulk bulk = { NULL, 0 };
    struct tensor *numbers = graph_run(module, SEED, &bulk);

    ck_assert_msg(numbers != NULL, "%s", expect_text(ctx));
    outline(partition);
    ck_assert_str_eq(graph_text(module, false), graph_text(wanted, false));
    for (int i = 0; i < partition->n_regions; i++)
        ck_assert_str_eq(partition->regions[i].fn->compiler, partition->regions[i].target->name);
    check_numbers(module, numbers, &bulk);
    arena_release(&partition->arena);
    bulk_release(&bulk);
    module_free(wanted);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* A region's name: of the first node of the model, as an identifier, unique. */
START_TEST(names_are_identifiers)
{
    static const struct {
        const char *origin; /* of the node */
        const char *wanted;
    } names[] = {
        { "Conv \"conv1\" #0", "npu_conv1" },
        { "Conv \"/layer1/conv.1/Conv\" #0", "npu_layer1_conv_1_Conv" },
        { "Conv \"Relu__12:0\" #0 + Relu \"a\" #1", "npu_Relu_12_0" },
        { "Conv \"\" #17", "npu_Conv_17" },
        { "Conv \"  \" #17", "npu_region" },
        { "Conv \"\\xc3\\xa9\\x0a\" #17", "npu_region" },
        { "Conv \"0123456789012345678901234567890123456789012345678901234567890\" #17",
          "npu_012345678901234567890123456789012345678901234567" },
    };
    struct ctx *ctx = ctx_new(NULL);
    const char *text = arena_printf(&ctx->perm,
                                    "fn main(%%x: (2,3) f32) -> (%%npu_conv1) {\n"
                                    "  %%a = nn.relu(%%x) : (2,3) f32 from %s\n"
                                    "  %%b = tanh(%%a) : (2,3) f32 from Tanh \"b\" #30\n"
                                    "  %%c = nn.relu(%%b) : (2,3) f32 from %s\n"
                                    "  %%npu_conv1 = sigmoid(%%c) : (2,3) f32 from Neg \"d\" #40\n"
                                    "}\n",
                                    names[_i].origin, names[_i].origin);
    struct module *module = graph_parse(ctx, text, SEED);
    struct partition *partition =
        hand_partition(module, "npu: act(a)\nnpu: act(c)\ndsp: act(npu_conv1)\n");

    outline(partition);
    ck_assert_str_eq(partition->regions[0].fn->name, names[_i].wanted);
    ck_assert_str_eq(partition->regions[0].fn->global_symbol, names[_i].wanted);
    ck_assert_str_eq(partition->regions[1].fn->name,
                     arena_printf(&ctx->perm, "%s_2", names[_i].wanted));
    arena_release(&partition->arena);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- random regions --------------------------------------------------------------------------- */

enum { REGIONS = 6 };

/* Whether all inputs of the group's nodes are computed by now, or inside. */
static bool is_ready(const struct partition *partition, const int *group, const bool *done,
                     int wanted)
{
    for (int i = 0; i < partition->n_nodes; i++)
        for (int j = 0; group[i] == wanted && j < partition->nodes[i]->n_inputs; j++) {
            const struct value *value = partition->nodes[i]->inputs[j];

            if (value && value->def && !done[group[value->def->id]] &&
                group[value->def->id] != wanted)
                return false;
        }
    return true;
}

/* Whether the groups can be put in an order: those that are ready are taken away until none is. */
static bool is_acyclic(const struct partition *partition, const int *group)
{
    const int n = REGIONS + partition->n_nodes;
    bool *done = arena_array(&partition->module->ctx->perm, bool, n);
    int n_done = 0, before;

    do {
        before = n_done;
        for (int g = 0; g < n; g++)
            if (!done[g] && is_ready(partition, group, done, g)) {
                done[g] = true;
                n_done++;
            }
    } while (n_done > before);
    return n_done == n;
}

/* Nodes go to random regions, as long as these can be put in an order. */
static void choose_regions(struct partition *partition, unsigned seed)
{
    int *group = arena_array(&partition->module->ctx->perm, int, partition->n_nodes);
    int n = 0;

    for (int r = 0; r < REGIONS; r++)
        hand_region(partition, r % 2 ? "npu" : "dsp");
    for (int i = 0; i < partition->n_nodes; i++)
        group[i] = REGIONS + i;
    for (int i = 0; i < partition->n_nodes; i++) {
        seed = seed * 1664525u + 1013904223u;
        group[i] = (int)((seed >> 8) % (REGIONS + 2));
        if (group[i] >= REGIONS || !is_acyclic(partition, group))
            group[i] = REGIONS + i;
        else
            hand_candidate(partition, group[i], "any", 1, &partition->nodes[i]);
    }
    for (int r = 0; r < REGIONS; r++)
        if (partition->regions[r].n > 0) /* others do not exist */
            partition->regions[n++] = partition->regions[r];
    partition->n_regions = n;
}

START_TEST(random_regions)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = random_graph(ctx, 40, (unsigned)_i + 1);
    struct partition *partition = hand_partition(module, "");
    struct bulk bulk = { NULL, 0 };
    struct tensor *numbers = graph_run(module, SEED, &bulk);

    ck_assert_msg(numbers != NULL, "%s", expect_text(ctx));
    choose_regions(partition, (unsigned)_i * 7919 + 1);
    ck_assert_int_gt(partition->n_regions, 1);
    outline(partition);
    check_numbers(module, numbers, &bulk);
    arena_release(&partition->arena);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- optimise --------------------------------------------------------------------------------- */

static bool rewrites_body(struct ctx *ctx, struct function *region)
{
    struct function *composite = region->first->callee;
    struct node *node = composite->first;
    struct value *twice = build(composite, OP_RELU, NULL, "twice", NULL, NULL, 1, node->outputs);

    (void)ctx;
    if (twice)
        node_set_input(composite->ret, 0, twice);
    return twice != NULL;
}

static bool changes_interface(struct ctx *ctx, struct function *region)
{
    (void)ctx;
    result_add(region, region->last->outputs[0], "another");
    return true;
}

static bool refuses(struct ctx *ctx, struct function *region)
{
    (void)ctx;
    (void)region;
    return false;
}

static bool refuses_with_reason(struct ctx *ctx, struct function *region)
{
    return diag_error(ctx, DIAG_OFFLOAD, NULL, "no room for %s", region->name);
}

START_TEST(optimises)
{
    static const struct {
        bool (*hook)(struct ctx *ctx, struct function *region);
        const char *error; /* NULL = works */
    } hooks[] = {
        { rewrites_body, NULL },
        { changes_interface, "has changed the parameters or results of its region npu_a" },
        { refuses, "target npu failed to optimise its region npu_a without a reason" },
        { refuses_with_reason, "no room for npu_a" },
    };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx,
                                        "fn main(%x: (2,3) f32) -> (%b) {\n"
                                        "  %a = nn.relu(%x) : (2,3) f32\n"
                                        "  %b = tanh(%a) : (2,3) f32\n"
                                        "}\n",
                                        SEED);
    struct partition *partition = hand_partition(module, "npu: act(a)\ndsp: act(b)\n");
    const struct target_hooks table = { .target = "npu", .optimise = hooks[_i].hook };
    const struct target_hooks none = { .target = "dsp" };

    hand_target(partition, "npu")->hooks = &table;
    hand_target(partition, "dsp")->hooks = &none;
    ck_assert(partition_outline(partition));
    ck_assert_int_eq(partition_optimise(partition), hooks[_i].error == NULL);
    if (hooks[_i].error)
        ck_assert_msg(expect_error(ctx, DIAG_OFFLOAD, hooks[_i].error), "%s", expect_text(ctx));
    else
        ck_assert_msg(module_verify(module, "optimise"), "%s", expect_text(ctx));
    arena_release(&partition->arena);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("partition_outline");
    TCase *tcase = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tcase, outlines, 0, N_ROWS(rows));
    tcase_add_loop_test(tcase, names_are_identifiers, 0, 7);
    tcase_add_loop_test(tcase, random_regions, 0, 200);
    tcase_add_loop_test(tcase, optimises, 0, 4);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
