/* rewrite.h - rewrite rules as data, and the one driver that applies them.
 *
 * A rule looks at a node and returns a new value that may replace the node's output, or NULL. It
 * changes nothing else: the driver replaces, keeps the model's name, and removes dead nodes. The
 * first match wins, so a longer pattern stands above its prefix. */
#ifndef RELAY_IR_PASSES_REWRITE_H
#define RELAY_IR_PASSES_REWRITE_H

#include "relay_ir/ir.h"

/* Where a rule builds: before `root`, in its function. */
struct rewrite {
    struct ctx *ctx;
    struct function *fn;
    struct node *root;
    const char *name;            /* of the replaced value, which the new one takes over;
                                    intermediate values are called "name.operator" */
    const struct origin *origin; /* of root; rule_covers adds others */
};

struct rule {
    const char *name;
    struct value *(*apply)(struct rewrite *rewrite, struct node *root);
    const enum op *roots; /* operators that it may match, ends with OP_COUNT; NULL = all */
};

#define ROOTS(...)                                                                                 \
    (const enum op[])                                                                              \
    {                                                                                              \
        __VA_ARGS__, OP_COUNT                                                                      \
    }

/* Applies the rules to all functions until none fires. False after an error. */
bool rewrite_module(struct module *module, const struct rule *rules, int n_rules);

/* The tables, for reports about rules that never fire. */
const struct rule *canonicalize_rules(int *n);
const struct rule *fake_quant_to_exact_rules(int *n);
const struct rule *fake_quant_to_integer_rules(int *n);
const struct rule *fold_dequantize_rules(int *n);
const struct rule *fold_scale_axis_rules(int *n);
const struct rule *simplify_expr_rules(int *n);
const struct rule *simplify_inference_rules(int *n);
const struct rule *sink_views_rules(int *n);

/* Removes the node if it is unused, and then the nodes that only it used. */
void remove_dead(struct node *node);

/* --- for rules -------------------------------------------------------------------------------- */

/* Adds the origins of `node` to nodes built from here on. */
void rule_covers(struct rewrite *rewrite, const struct node *node);

/* Builds before the root. A NULL input gives NULL, so that calls nest. */
struct value *rule_build(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                         int n_inputs, struct value *const *inputs);
struct value *rule_build1(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *x);
struct value *rule_build2(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *a, struct value *b);
struct value *rule_build3(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *a, struct value *b, struct value *c);
struct value *rule_reshape(struct rewrite *rewrite, struct value *x, const struct type *shape);

/* Copies a one-output node with other inputs, under its name if the old node will die. */
struct value *rule_rebuild(struct rewrite *rewrite, const struct node *node,
                           struct value *const *inputs);

/* A constant that replaces `like` and takes its name if nobody else reads it: generated C keeps the
 * model's names. */
struct value *rule_constant_like(struct rewrite *rewrite, struct value *like,
                                 const struct type *type, const void *data);

/* The node that computes the value when its operator is `op`, else NULL. */
struct node *defined_by(const struct value *value, enum op op);
/* defined_by if the value has no other reader, so that a pattern's inner nodes may vanish. */
struct node *only_defined_by(const struct value *value, enum op op);

/* The constant input of a binary node; *other is the other input. NULL unless exactly one is
 * constant. */
struct value *constant_side(const struct node *node, struct value **other);

/* True for a constant whose elements all equal this number, rounded to the element type. */
bool is_number(const struct value *value, double number);

/* True if a constant of shape `type`, broadcast to `shape`, varies along `axis` only. */
bool is_per_axis(const struct type *type, const struct type *shape, int axis);

#endif
