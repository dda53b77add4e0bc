#include "tests/support/random_target.h"

#include "base/str.h"

static const struct {
    const char *name, *pattern;
} rows[] = {
    { "conv_act", "conv2d(x, w:const) -> bias_add(_, b:const)? -> relu|clip|tanh?" },
    { "conv_sum", "conv2d(x, w:const) -> add(_, r) -> relu?" },
    { "conv_long", "conv2d(x, w:const) -> relu -> conv2d(_, v:const) -> relu?" },
    { "conv", "conv2d(x, w:const)" },
    { "bias", "bias_add(x, b:const) -> relu?" },
    { "add_relu", "add(a, b) -> relu" },
    { "act", "relu|tanh|sigmoid|clip" },
    { "tanh_tail", "tanh(x) -> relu|tanh|sigmoid?" },
    { "mul_add", "multiply(a, b) -> add(_, c)" },
    { "gate", "multiply(a, sigmoid(b))" },
    { "add", "add(a, b)" },
    { "multiply", "multiply(a, b)" },
    { "maximum", "maximum(a, b)" },
    { "softmax", "softmax(x)" },
    { "concat_conv", "concatenate(...) -> conv2d(_, w:const)" },
    { "concat", "concatenate(...)" },
    { "halves", "multiply(split(x).0, y)" },
    { "split", "split(x)" },
    { "view", "reshape(x)" },
    { "elemwise", "@elemwise" },
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static unsigned below(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

static void add_limits(struct str *text, unsigned *seed)
{
    const char *before = "";

    str_add(text, ", \"limits\": {");
    if (below(seed, 3) == 0) {
        str_printf(text, "\"max_nodes\": %u", 4 + below(seed, 6));
        before = ", ";
    }
    if (below(seed, 4) == 0) {
        str_printf(text, "%s\"max_macs\": %u", before, 64 + below(seed, 300));
        before = ", ";
    }
    if (below(seed, 4) == 0) {
        str_printf(text, "%s\"max_weight_bytes\": %u", before, 64 + below(seed, 200));
        before = ", ";
    }
    if (below(seed, 3) == 0) {
        str_printf(text, "%s\"max_onchip_bytes\": %u, \"weights_onchip\": %s", before,
                   264 + below(seed, 600), below(seed, 2) ? "true" : "false");
        before = ", ";
    }
    if (below(seed, 4) == 0)
        str_printf(text, "%s\"min_macs\": %u", before, 1 + below(seed, 64));
    str_add(text, "}");
}

const char *random_target(struct arena *arena, int index, unsigned *seed)
{
    const unsigned share = 2 + below(seed, 4);
    const unsigned turn = below(seed, N_ROWS);
    const char *before = "";
    struct str text = { .arena = arena };

    str_printf(&text, "{ \"name\": \"t%d\", \"format\": \"extern\", \"composites\": [", index);
    for (unsigned i = 0; i < N_ROWS; i++) {
        const unsigned row = (i + turn) % N_ROWS;

        if (below(seed, share) == 0) {
            str_printf(&text, "%s{ \"name\": \"%s\", \"pattern\": \"%s\"", before, rows[row].name,
                       rows[row].pattern);
            if (below(seed, 6) == 0)
                str_printf(&text, ", \"cost_ns\": \"nodes * %u\"", below(seed, 200));
            str_add(&text, " }");
            before = ", ";
        }
    }
    str_add(&text, "]");
    add_limits(&text, seed);
    str_printf(&text,
               ", \"rates\": { \"launch_ns\": %u, \"transfer_ns_per_byte\": 0.%u, \"call_ns\": %u, "
               "\"ns_per_byte\": 0.0%u, \"ns_per_mac\": { \"other\": 0.%u } }",
               below(seed, below(seed, 3) ? 60 : 400), below(seed, 2) * below(seed, 10),
               below(seed, 120), below(seed, 10), below(seed, 10));
    if (below(seed, 4) == 0)
        str_add(&text, ", \"keep_on_host\": [\"clip\"]");
    str_add(&text, "}");
    return str_text(&text);
}
