/* test_match.c - patterns at the nodes of graphs: what matches, what is captured, why something
 * does not match, and what expressions see of a match. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "partition/pattern.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/random_graph.h"

/* A graph, a pattern and the node at which it is tried. */
struct match_case {
    const char *graph; /* nodes of main and results, see `graph_of` */
    const char *pattern;
    const char *root;           /* name of the output at which it must match */
    const char *want;           /* "conv2d bias_add | x=x w=w b=b conv2d=c": nodes, captures */
    const char *found, *wanted; /* instead of `want`: why not */
};

#define CONV_ATTRS                                                                                 \
    "{strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\"}"

/* A convolution with everything that may follow it. */
#define LONG                                                                                       \
    "fn main(%x: (1,2,3,3) f32, %r: (1,4,3,3) f32) -> (%y) {\n"                                    \
    "  const @w : (4,2,1,1) f32 = crc32:00000000\n"                                                \
    "  const @b : (4) f32 = crc32:00000000\n"                                                      \
    "  %c = nn.conv2d(%x, @w) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %a = nn.bias_add(%c, @b) {axis=1} : (1,4,3,3) f32\n"                                        \
    "  %s = add(%r, %a) : (1,4,3,3) f32\n"                                                         \
    "  %y = nn.relu(%s) : (1,4,3,3) f32\n"                                                         \
    "}\n"

#define SHORT                                                                                      \
    "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"                                                       \
    "  const @w : (4,2,1,1) f32 = crc32:00000000\n"                                                \
    "  %c = nn.conv2d(%x, @w) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %y = clip(%c) {a_min=0, a_max=6} : (1,4,3,3) f32\n"                                         \
    "}\n"

/* Weights of FP8 beside data of f32, and codes that are there to be read. */
#define SMALL                                                                                      \
    "fn main(%x: (1,2,3,3) f32, %k: (3) i8) -> (%c, %y) {\n"                                       \
    "  const @w : (4,2,1,1) f8e4m3 = crc32:00000000\n"                                             \
    "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, "       \
    "data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_dtype=f32} : (1,4,3,3) f32\n"               \
    "  %y = cast(%k) {dtype=f32} : (3) f32\n"                                                      \
    "}\n"

/* A value that two read, in and out of what matches. */
#define SILU                                                                                       \
    "fn main(%x: (1,2,3,3) f32) -> (%y) {\n"                                                       \
    "  const @w : (4,2,1,1) f32 = crc32:00000000\n"                                                \
    "  %c = nn.conv2d(%x, @w) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %s = sigmoid(%c) : (1,4,3,3) f32\n"                                                         \
    "  %y = multiply(%s, %c) : (1,4,3,3) f32\n"                                                    \
    "}\n"

#define OUTSIDE                                                                                    \
    "fn main(%x: (1,2,3,3) f32) -> (%y, %z, %p) {\n"                                               \
    "  const @w : (4,2,1,1) f32 = crc32:00000000\n"                                                \
    "  %p = nn.pad(%x) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"\", value=0} : "         \
    "(1,2,5,5) f32\n"                                                                              \
    "  %c = nn.conv2d(%p, @w) " CONV_ATTRS " : (1,4,5,5) f32\n"                                    \
    "  %y = nn.relu(%c) : (1,4,5,5) f32\n"                                                         \
    "  %d = nn.conv2d(%p, @w) " CONV_ATTRS " : (1,4,5,5) f32\n"                                    \
    "  %e = abs(%d) : (1,4,5,5) f32\n"                                                             \
    "  %f = nn.relu(%d) : (1,4,5,5) f32\n"                                                         \
    "  %z = add(%e, %f) : (1,4,5,5) f32\n"                                                         \
    "}\n"

/* Two convolutions of equal form joined, and one with itself. */
#define JOINS                                                                                      \
    "fn main(%x: (1,4,3,3) f32, %i: (1,4,3,3) i32) -> (%s, %t, %j) {\n"                            \
    "  const @v : (4,4,1,1) f32 = crc32:00000000\n"                                                \
    "  const @w : (4,4,1,1) f32 = crc32:00000000\n"                                                \
    "  %a = nn.conv2d(%x, @v) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %b = nn.conv2d(%x, @w) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %r = nn.relu(%a) : (1,4,3,3) f32\n"                                                         \
    "  %s = add(%r, %b) : (1,4,3,3) f32\n"                                                         \
    "  %c = nn.conv2d(%x, @w) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %t = add(%c, %c) : (1,4,3,3) f32\n"                                                         \
    "  %j = add(%i, %i) : (1,4,3,3) i32\n"                                                         \
    "}\n"

/* Several outputs, several inputs. */
#define PARTS                                                                                      \
    "fn main(%x: (2,6) f32, %k: (2,6) f32) -> (%g, %m, %i, %q) {\n"                                \
    "  const @half : () f32 = [0.5]\n"                                                             \
    "  %a, %b = split(%x) {axis=1, sizes=[]} : (2,3) f32, (2,3) f32\n"                             \
    "  %s = sigmoid(%b) : (2,3) f32\n"                                                             \
    "  %g = multiply(%a, %s) : (2,3) f32\n"                                                        \
    "  %v, %i = topk(%k) {axis=1, k=2, largest=true, sorted=true} : (2,2) f32, (2,2) i64\n"        \
    "  %r = nn.relu(%v) : (2,2) f32\n"                                                             \
    "  %m = concatenate(%r, %v, %k) {axis=1} : (2,10) f32\n"                                       \
    "  %q = subtract(@half, %x) : (2,6) f32\n"                                                     \
    "}\n"

/* Between a convolution and what joins its descendants: one path or more. */
#define PATHS                                                                                      \
    "fn main(%x: (1,2,3,3) f32, %o: (1,4,3,3) f32) -> (%y, %n) {\n"                                \
    "  const @w : (4,2,1,1) f32 = crc32:00000000\n"                                                \
    "  const @three : () f32 = [3]\n"                                                              \
    "  %c = nn.conv2d(%x, @w) " CONV_ATTRS " : (1,4,3,3) f32\n"                                    \
    "  %a = add(%c, @three) : (1,4,3,3) f32\n"                                                     \
    "  %b = clip(%a) {a_min=0, a_max=6} : (1,4,3,3) f32\n"                                         \
    "  %u = abs(%o) : (1,4,3,3) f32\n"                                                             \
    "  %d = multiply(%b, %u) : (1,4,3,3) f32\n"                                                    \
    "  %y = multiply(%c, %d) : (1,4,3,3) f32\n"                                                    \
    "  %n = negative(%o) : (1,4,3,3) f32\n"                                                        \
    "}\n"

#define CHAIN "conv2d(x, w:const) -> bias_add(_, b:const)? -> add(_, residual)? -> relu|clip?"

static const struct match_case rows[] = {
    /* optional steps, the longest form first; alternatives; both orders of operands */
    { LONG, CHAIN, "y", "c a s y | conv2d=c x=x w=w bias_add=a b=b add=s residual=r relu=y", 0, 0 },
    { LONG, CHAIN, "s", "c a s | conv2d=c x=x w=w bias_add=a b=b add=s residual=r", 0, 0 },
    { LONG, CHAIN, "a", "c a | conv2d=c x=x w=w bias_add=a b=b", 0, 0 },
    { LONG, CHAIN, "c", "c | conv2d=c x=x w=w", 0, 0 },
    { SHORT, CHAIN, "y", "c y | conv2d=c x=x w=w clip=y", 0, 0 },
    { LONG, "act=(relu|clip)", "y", "y | act=y relu=y", 0, 0 },
    { LONG, "add(a, b)", "s", "s | add=s a=r b=a", 0, 0 },
    { LONG, "bias_add(a, b) -> add", "s", "a s | bias_add=a a=c b=b add=s", 0, 0 },
    { LONG, "add(bias_add(...), *) -> relu", "y", "a s y | add=s bias_add=a relu=y", 0, 0 },
    { LONG, "relu(x)|relu(add(a, b))", "y", "y | relu=y x=s", 0, 0 },
    { LONG, "relu(add(a, b))|relu(x)", "y", "s y | relu=y add=s a=r b=a", 0, 0 },
    { LONG, "@out_fusable(x, w) -> @broadcast -> @broadcast -> @elemwise", "y", "c a s y | x=x w=w",
      0, 0 },
    { LONG, "e=@elemwise", "y", "y | e=y", 0, 0 },
    { LONG, "conv2d(...) -> @elemwise", "a", NULL, "op is nn.bias_add", "@elemwise" },

    /* conditions */
    { SHORT, "conv2d(x, w:var) -> clip", "y", NULL, "@w is a constant", "w:var" },
    { SHORT, "conv2d(x:const, w) -> clip", "y", NULL, "%x is no constant", "x:const" },
    { SHORT, "conv2d(x:f32 (1,2,_,3), w:const f16|f32 rank=4) -> clip:(1,4,3,3)", "y",
      "c y | conv2d=c x=x w=w clip=y", 0, 0 },
    { SHORT, "conv2d(x:f32 (1,2,_,4), w)", "c", NULL, "%x is (1,2,3,3) f32", "f32 (1,2,_,4)" },
    { SHORT, "conv2d(x:i8|f16, w)", "c", NULL, "%x is (1,2,3,3) f32", "f16|i8" },
    { SMALL, "conv2d(x, w)", "c", NULL, "@w is (4,2,1,1) f8e4m3",
      "a type that the pattern names, as in w:f8e4m3" },
    { SMALL, "conv2d(x, w:const rank=4)", "c", NULL, "@w is (4,2,1,1) f8e4m3",
      "rank=4 and a type that the pattern names, as in w:f8e4m3" },
    { SMALL, "conv2d(x, w:f8e4m3)", "c", "c | conv2d=c x=x w=w", 0, 0 },
    { SMALL, "cast(x)", "y", "y | cast=y x=k", 0, 0 },
    { SHORT, "conv2d(x:rank=3, w)", "c", NULL, "%x is (1,2,3,3) f32", "rank=3" },
    { SHORT, "clip:f16", "y", NULL, "%y is (1,4,3,3) f32", "f16" },
    { SHORT, "clip(x){a_min=0, a_max=6}", "y", "y | clip=y x=c", 0, 0 },
    { SHORT, "clip(x){a_min=0, a_max=5.5}", "y", NULL, "a_max is 6", "a_max=5.5" },
    { SHORT, "conv2d(x, w){groups=1, strides=[1,1], data_layout=NCHW}", "c", "c | conv2d=c x=x w=w",
      0, 0 },
    { SHORT, "conv2d(x, w){data_layout=NHWC}", "c", NULL, "data_layout is NCHW",
      "data_layout=NHWC" },
    { SHORT, "conv2d(x, w){strides=[2,2]} -> clip", "y", NULL, "strides is [1,1]",
      "strides=[2,2]" },
    { PARTS, "topk(x){largest=true, k=2}", "v", "v | topk=v x=k", 0, 0 },
    { PARTS, "topk(x){largest=false}", "v", NULL, "largest is 1", "largest=0" },

    /* what came furthest is told */
    { SHORT, "conv2d(x, w) -> relu|silu?", "y", NULL, "op is clip", "conv2d, relu or silu" },
    { LONG, "conv2d(x, w) -> add(_, y) -> relu", "y", NULL, "op is nn.bias_add", "conv2d" },
    { LONG, "conv2d(x, w:var) -> bias_add(_, b) -> add(_, y) -> relu", "y", NULL,
      "@w is a constant", "w:var" },
    { SHORT, "relu -> conv2d(_, w)", "c", NULL, "%x is an input of the function", "relu" },

    /* one value in several places */
    { SILU, "conv2d(x, w) -> multiply(_, sigmoid(_))", "y",
      "c s y | conv2d=c x=x w=w multiply=y sigmoid=s", 0, 0 },
    { SILU, "x=* -> multiply(_, sigmoid(_))", "y", "s y | x=c multiply=y sigmoid=s", 0, 0 },
    { SILU, "multiply(_, sigmoid(_))", "y", "s y | multiply=y sigmoid=s", 0, 0 },
    { JOINS, "multiply(_, _)|add(_, _)", "j", "j | add=j", 0, 0 },
    { JOINS, "add(_, _)", "s", NULL, "%b is another value", "the same value as '_' before" },
    { SILU, "conv2d(x, w) -> multiply(_, sigmoid(y))", "y", NULL, "%c is computed inside the match",
      "a value from outside for y" },

    /* values from outside are not computed inside; nothing inside is read outside */
    { JOINS, "add(conv2d(x, w), y)", "t", NULL, "%c is computed inside the match",
      "a value from outside for y" },
    { JOINS, "add(conv2d(x, w), ...)", "t", NULL, "%c is computed inside the match",
      "a value from outside for add" },
    { JOINS, "conv2d(x, w) -> add(_, _)", "t", "c t | conv2d=c x=x w=w add=t", 0, 0 },
    { JOINS, "add(relu(conv2d(x, v)), conv2d(y, w))", "s",
      "a b r s | add=s relu=r conv2d=a x=x v=v conv2d_2=b y=x w=w", 0, 0 },
    { JOINS, "add(conv2d(y, w), relu(conv2d(x, v)))", "s",
      "a b r s | add=s conv2d=b y=x w=w relu=r conv2d_2=a x=x v=v", 0, 0 },
    { OUTSIDE, "conv2d(x, w) -> relu", "y", "c y | conv2d=c x=p w=w relu=y", 0, 0 },
    { OUTSIDE, "conv2d(x, w) -> relu", "f", NULL, "%d is also read by abs of %e",
      "read inside the match only" },
    { OUTSIDE, "pad(x) -> conv2d(_, w)", "c", NULL, "%p is also read by nn.conv2d of %d",
      "read inside the match only" },
    { OUTSIDE, "pad(x) -> conv2d(_, w) -> relu", "y", NULL, "%p is also read by nn.conv2d of %d",
      "read inside the match only" },
    /* an optional step that would be read outside is left out */
    { OUTSIDE, "x=* -> pad? -> conv2d(_, w) -> relu", "y", "c y | x=p conv2d=c w=w relu=y", 0, 0 },
    { OUTSIDE, "conv2d(pad(x)|x, w)", "c", "c | conv2d=c x=p w=w", 0, 0 },
    { OUTSIDE, "conv2d(x, w) -> add((abs), (relu))", "z",
      "d e f z | conv2d=d x=p w=w add=z abs=e relu=f", 0, 0 },

    /* outputs and inputs in numbers */
    { PARTS, "split(x).1 -> sigmoid", "s", NULL, "%a is also read by multiply of %g",
      "read inside the match only" },
    { PARTS, "x=* -> multiply(split(_).0, sigmoid(split(_).1))", "g",
      "a s g | x=x multiply=g split=a sigmoid=s split_2=a", 0, 0 },
    { PARTS, "multiply(split(x).0, sigmoid(split(*).0))", "g", NULL, "it is output 1 of split",
      "output 0" },
    { PARTS, "split(x) -> multiply(_, y)", "g", NULL, "%b is also read by sigmoid of %s",
      "read inside the match only" },
    { PARTS, "split(x) -> sigmoid", "s", NULL, "it is output 1 of split", "output 0" },
    { PARTS, "topk(x).1", "v", "v | topk=v x=k", 0, 0 },
    { PARTS, "topk(x).1:i64", "v", "v | topk=v x=k", 0, 0 },
    { PARTS, "topk(x).1:f32", "v", NULL, "%i is (2,2) i64", "f32" },
    { PARTS, "concatenate(tuple(a, b, c))", "m", "m | concatenate=m a=r b=v c=k", 0, 0 },
    { PARTS, "concatenate(a, b)", "m", NULL, "3 inputs", "2 inputs" },
    { PARTS, "concatenate(a, ...)", "m", "m | concatenate=m a=r", 0, 0 },
    { PARTS, "concatenate(relu(a), ...)", "m", "r m | concatenate=m relu=r a=v", 0, 0 },
    { PARTS, "subtract(h:const, x)", "q", "q | subtract=q h=half x=x", 0, 0 },
    { PARTS, "subtract(x, h:const)", "q", NULL, "%x is no constant", "h:const" },

    /* dominates */
    { PATHS, "dominates(conv2d(x, w), @broadcast|@elemwise, multiply)", "y",
      "c a b d y | conv2d=c x=x w=w multiply=y", 0, 0 },
    { PATHS, "conv2d(x, w) -> dominates(_, @broadcast|@elemwise, multiply(*, *))", "y",
      "c a b d y | conv2d=c x=x w=w multiply=y", 0, 0 },
    { PATHS, "dominates(add(x, *:const), clip, multiply(_, other))", "d",
      "a b d | add=a x=c multiply=d other=u", 0, 0 },
    { PATHS, "dominates(add(x, *:const), negative, clip)", "b", "a b | add=a x=c clip=b", 0, 0 },
    { PATHS, "dominates(conv2d(x, w), clip|@broadcast, clip)", "b", NULL,
      "%c is also read by multiply of %y", "read inside the match only" },
    { PATHS, "dominates(conv2d(x, w), clip, multiply)", "y", NULL, "%c is also read by add of %a",
      "read inside the match only" },
    { PATHS, "dominates(conv2d(x, w), @elemwise, negative)", "n", NULL,
      "nothing before it, through operators of the path, can be the parent",
      "the parent of dominates" },
    { JOINS, "dominates(conv2d(x, w), @elemwise, add)", "s", "b s | conv2d=b x=x w=w add=s", 0, 0 },
    { JOINS, "dominates(conv2d(x, w), @elemwise, add)", "t", "c t | conv2d=c x=x w=w add=t", 0, 0 },
    { JOINS, "dominates(conv2d(x, w), @elemwise, add(*, conv2d(y, v)))", "s",
      "a b r s | conv2d=a x=x w=v add=s conv2d_2=b y=x v=w", 0, 0 },
    { SILU, "dominates(conv2d(x, w), sigmoid, multiply)", "y",
      "c s y | conv2d=c x=x w=w multiply=y", 0, 0 },
};

static struct value *find(struct function *fn, const char *name)
{
    struct value *value = map_get(&fn->names, name);

    ck_assert_msg(value != NULL, "no value '%s'", name);
    return value;
}

static const char *match_text(struct arena *arena, const struct match *match)
{
    struct str text = { .arena = arena };

    for (int i = 0; i < match->n_nodes; i++)
        str_printf(&text, "%s ", match->nodes[i]->outputs[0]->name);
    str_add(&text, "|");
    for (int i = 0; i < match->n_captures; i++) {
        ck_assert(!match->captures[i].node ||
                  match->captures[i].node->outputs[0] == match->captures[i].value);
        str_printf(&text, " %s=%s", match->captures[i].name, match->captures[i].value->name);
    }
    return str_text(&text);
}

START_TEST(a_pattern_matches_or_says_why_not)
{
    const struct match_case *row = &rows[_i];
    const struct source source = { .file = "test" };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->graph, 1);
    struct pattern *pattern = pattern_parse(ctx, &source, row->pattern);
    struct matcher matcher = { .arena = &ctx->perm };
    struct match match;
    struct mismatch why;

    ck_assert_msg(pattern != NULL, "%s\n%s", row->pattern, expect_text(ctx));
    function_number(module->main);
    if (pattern_match(&matcher, pattern, find(module->main, row->root)->def, &match, &why)) {
        ck_assert_msg(row->want != NULL, "%s matches: %s", row->pattern,
                      match_text(&ctx->perm, &match));
        ck_assert_str_eq(match_text(&ctx->perm, &match), row->want);
        ck_assert_ptr_eq(match.nodes[match.n_nodes - 1], match.root);
        ck_assert_int_le(match.n_nodes, pattern_length(pattern));
    } else {
        ck_assert_msg(row->want == NULL, "%s at %s: found %s, wanted %s", row->pattern, row->root,
                      why.found, why.wanted);
        ck_assert_str_eq(why.found, row->found);
        ck_assert_str_eq(why.wanted, row->wanted);
        ck_assert_ptr_nonnull(why.node);
    }
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* A pattern that could be tried in more ways than anyone can wait for. */
START_TEST(a_search_is_given_up)
{
    const struct source source = { .file = "test" };
    struct ctx *ctx = ctx_new(NULL);
    struct str graph = { .arena = &ctx->perm }, text = { .arena = &ctx->perm };
    struct matcher matcher = { .arena = &ctx->perm };
    struct module *module;
    struct match match;
    struct mismatch why = { 0 };

    str_add(&graph, "fn main(%x0: (4) f32, %y: (4) f32) -> (%x40) {\n");
    str_add(&text, "relu");
    for (int i = 0; i < 40; i++) {
        str_printf(&graph, "  %%x%d = add(%%x%d, %%y) : (4) f32\n", i + 1, i);
        str_printf(&text, " -> add(_, add(*, *)|*)");
    }
    str_add(&graph, "}\n");
    module = graph_parse(ctx, str_text(&graph), 1);
    function_number(module->main);
    ck_assert(!pattern_match(&matcher, pattern_parse(ctx, &source, str_text(&text)),
                             module->main->last, &match, &why));
    ck_assert_ptr_nonnull(why.found);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

static bool is_not(void *user, const struct node *node)
{
    return strcmp(node->outputs[0]->name, user) != 0;
}

START_TEST(a_node_that_is_taken_is_not_matched)
{
    const struct source source = { .file = "test" };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, LONG, 1);
    struct pattern *pattern = pattern_parse(ctx, &source, "x=* -> bias_add(_, b)? -> add(_, r)");
    struct matcher matcher = { .arena = &ctx->perm, .may_take = is_not, .user = "a" };
    struct node *root = find(module->main, "s")->def;
    struct match match;
    struct mismatch why;

    function_number(module->main);
    ck_assert(pattern_match(&matcher, pattern, root, &match, &why));
    ck_assert_str_eq(match_text(&ctx->perm, &match), "s | x=r add=s r=a");
    matcher.user = "s";
    ck_assert(!pattern_match(&matcher, pattern, root, &match, &why));
    ck_assert_str_eq(why.found, "it belongs to another composite");
    ck_assert_ptr_eq(why.node, root);
    ck_assert_int_eq(why.n_matched, 0);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What expressions see of the match of CHAIN at "y" of LONG, or of another pattern. */
static const struct {
    const char *pattern, *root, *expression;
    const char *found; /* NULL = holds */
} scoped[] = {
    { CHAIN, "y", "x.dtype == f32 && x.rank == 4 && x.shape == [1,2,3,3] && x.dim[1] == 2", NULL },
    { CHAIN, "y", "x.elements == 18 && x.bytes == 72 && !x.const && w.const", NULL },
    { CHAIN, "y", "conv2d.strides[0] == 1 && conv2d.groups == 1 && conv2d.op == conv2d", NULL },
    { CHAIN, "y", "conv2d.data_layout == 'NCHW' && conv2d.dim[1] == 4 && bias_add.axis == 1",
      NULL },
    { CHAIN, "y", "out.shape == relu.shape && out.op == relu", NULL },
    { CHAIN, "y", "nodes == 4 && macs == 4 * 9 * 2", NULL },
    { CHAIN, "y", "weight_bytes == 4*2*4 + 4*4 && input_bytes == 72 + 144 && output_bytes == 144",
      NULL },
    { CHAIN, "y", "present(b) && present(residual) && !present(clip) && present(relu)", NULL },
    { CHAIN, "y", "clip.a_max == 6", NULL },
    { CHAIN, "c", "b.dim[0] == 7 && residual.shape == x.shape && relu.op == clip", NULL },
    { CHAIN, "c", "present(b) ? 0 : 1", NULL },
    { "act=(relu|clip)", "y", "act.a_max == 6 && out.a_max == 7 && act.op == relu", NULL },
    { "act=(relu|clip)", "y", "act.a_maxx == 6", "act.a_maxx: there is no such field" },
    { CHAIN, "y", "x.dimm == 1", "x.dimm: there is no such field" },
    { CHAIN, "y", "clip.axis == 1", "clip.axis: there is no such field" },
    { CHAIN, "y", "bias.dim[0] == 1", "bias.dim: there is no such name" },
    { CHAIN, "y", "x.value == 1", "x.value: it is not a constant" },
    { CHAIN, "y", "conv2d.groups == 2", "conv2d.groups is 1" },
    { "bias_add(x, b)", "a", "b.min >= -1 && b.max < 1 && b.min < b.max", NULL },
    { "bias_add(x, b)", "a", "b.value == 1", "b.value: its elements are not all equal" },
};

START_TEST(expressions_see_captures_and_the_whole)
{
    const struct source source = { .file = "test" };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, LONG, 1);
    struct pattern *pattern = pattern_parse(ctx, &source, scoped[_i].pattern);
    struct expression *expression = expression_parse(ctx, &source, scoped[_i].expression);
    struct matcher matcher = { .arena = &ctx->perm };
    const char *found = "", *wanted = "";
    struct match match;
    struct mismatch why;
    struct scope scope;

    function_number(module->main);
    ck_assert_msg(pattern && expression, "%s", expect_text(ctx));
    ck_assert(
        pattern_match(&matcher, pattern, find(module->main, scoped[_i].root)->def, &match, &why));
    scope = match_scope(&ctx->perm, pattern, &match);
    if (expression_holds(expression, &scope, &ctx->perm, &found, &wanted))
        ck_assert_msg(!scoped[_i].found, "%s holds", scoped[_i].expression);
    else
        ck_assert_msg(scoped[_i].found && strcmp(found, scoped[_i].found) == 0, "%s: %s",
                      scoped[_i].expression, found);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(constants_have_values)
{
    const struct source source = { .file = "test" };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, PATHS, 1);
    struct pattern *pattern = pattern_parse(ctx, &source, "add(x, three:const)");
    struct expression *expression =
        expression_parse(ctx, &source, "three.value == 3 && three.min == 3 && three.rank == 0");
    struct matcher matcher = { .arena = &ctx->perm };
    const char *found, *wanted;
    struct match match;
    struct mismatch why;
    struct scope scope;

    function_number(module->main);
    ck_assert(pattern_match(&matcher, pattern, find(module->main, "a")->def, &match, &why));
    scope = match_scope(&ctx->perm, pattern, &match);
    ck_assert(expression_holds(expression, &scope, &ctx->perm, &found, &wanted));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- random graphs ---------------------------------------------------------------------------- */

/* Whether `to` can be reached from `from` through nodes that are not in the match first. */
static bool leaves_and_returns(const struct match *match, const struct node *node, bool *seen)
{
    for (int i = 0; i < node->n_outputs; i++)
        for (const struct use *use = node->outputs[i]->uses; use; use = use->next) {
            bool inside = false;

            for (int k = 0; k < match->n_nodes; k++)
                inside = inside || match->nodes[k] == use->node;
            if (inside)
                return true;
            if (use->node->op == OP_RETURN || seen[use->node->id])
                continue;
            seen[use->node->id] = true;
            if (leaves_and_returns(match, use->node, seen))
                return true;
        }
    return false;
}

/* Whatever matches in a random network: has one way out, the root, is free of cycles once it is one
 * node, and its captures are what the pattern's operators say. */
START_TEST(matches_in_random_networks_are_sound)
{
    static const char *const patterns[] = {
        CHAIN,
        "@out_fusable(x, ...) -> @broadcast? -> @broadcast|@elemwise?",
        "x=* -> @elemwise? -> @elemwise? -> @elemwise",
        "@broadcast(@elemwise|*, @elemwise|*)",
        "dominates(@elemwise, @elemwise|@broadcast|@injective, @broadcast|@elemwise)",
        "dominates(conv2d(x, w), @elemwise|@broadcast, @broadcast|@elemwise)",
        "reshape? -> transpose? -> reshape|dense(_, ...)|matmul(_, ...)",
    };
    const struct source source = { .file = "test" };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = random_graph(ctx, 120, (unsigned)_i + 1);
    struct matcher matcher = { .arena = &ctx->perm };
    int n_matches = 0;

    function_number(module->main);
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        struct pattern *pattern = pattern_parse(ctx, &source, patterns[p]);

        ck_assert_msg(pattern != NULL, "%s", expect_text(ctx));
        for (struct node *node = module->main->first; node; node = node->next) {
            bool *seen = arena_array(&ctx->perm, bool, module->main->n_nodes + 1);
            struct match match;
            struct mismatch why = { 0 };

            if (!pattern_match(&matcher, pattern, node, &match, &why)) {
                ck_assert(why.node && why.found && why.wanted);
                continue;
            }
            n_matches++;
            ck_assert_ptr_eq(match.root, node);
            ck_assert_ptr_eq(match.nodes[match.n_nodes - 1], node);
            for (int i = 0; i < match.n_nodes; i++) {
                ck_assert(i == 0 || match.nodes[i - 1]->id < match.nodes[i]->id);
                for (int k = 0; match.nodes[i] != node && k < match.nodes[i]->n_outputs; k++)
                    for (struct use *use = match.nodes[i]->outputs[k]->uses; use; use = use->next) {
                        bool inside = false;

                        for (int j = 0; j < match.n_nodes; j++)
                            inside = inside || match.nodes[j] == use->node;
                        ck_assert_msg(inside, "%s at %s", patterns[p], node->outputs[0]->name);
                    }
            }
            ck_assert(!leaves_and_returns(&match, node, seen));
        }
    }
    ck_assert_int_gt(n_matches, 50);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

int main(void)
{
    Suite *suite = suite_create("match");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, a_pattern_matches_or_says_why_not, 0, N_ROWS(rows));
    tcase_add_test(tests, a_search_is_given_up);
    tcase_add_test(tests, a_node_that_is_taken_is_not_matched);
    tcase_add_loop_test(tests, expressions_see_captures_and_the_whole, 0, N_ROWS(scoped));
    tcase_add_test(tests, constants_have_values);
    tcase_add_loop_test(tests, matches_in_random_networks_are_sound, 0, 8);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
