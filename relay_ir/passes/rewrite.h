/* rewrite.h - rewrite rules as data, and the one driver that applies them.
 *
 * A rule looks at a node and either builds a value that may stand for the node's output, or answers
 * NULL. It changes nothing else: the driver replaces, keeps the name of the model, and removes what
 * became dead. First match wins, so the longer pattern stands above its own prefix. */
#ifndef RELAY_IR_PASSES_REWRITE_H
#define RELAY_IR_PASSES_REWRITE_H

#include "relay_ir/ir.h"

/* Where a rule builds: before the node it was asked about, in its function. */
struct rewrite {
    struct ctx *ctx;
    struct function *fn;
    struct node *root;
    const char *name;            /* of the value to be replaced, which the new one will take over;
                                    what else is built is called "name.operator" */
    const struct origin *origin; /* of root; rule_covers adds more */
};

struct rule {
    const char *name;
    struct value *(*apply)(struct rewrite *rewrite, struct node *root);
    const enum op *roots; /* the operators it is asked about, up to OP_COUNT; NULL = all */
};

#define ROOTS(...)                                                                                 \
    (const enum op[])                                                                              \
    {                                                                                              \
        __VA_ARGS__, OP_COUNT                                                                      \
    }

/* Applies the rules to all functions, in sweeps, until none fires. False after an error. */
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

/* Removes the node if nobody needs it, and then what only it needed. */
void remove_dead(struct node *node);

/* --- for rules ------------------------------------------------------------------------------ */

/* The nodes built from here on also stand for this node of the model. */
void rule_covers(struct rewrite *rewrite, const struct node *node);

/* Builds before the root. NULL inputs make NULL, so that calls nest. */
struct value *rule_build(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                         int n_inputs, struct value *const *inputs);
struct value *rule_build1(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *x);
struct value *rule_build2(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *a, struct value *b);
struct value *rule_build3(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *a, struct value *b, struct value *c);
struct value *rule_reshape(struct rewrite *rewrite, struct value *x, const struct type *shape);

/* A copy of a one-output node that reads `inputs`, under the same name if the old one will die. */
struct value *rule_rebuild(struct rewrite *rewrite, const struct node *node,
                           struct value *const *inputs);

/* A constant that takes the place of `like`: the generated C keeps the model's names. `like` itself
 * loses its name if nobody else reads it. */
struct value *rule_constant_like(struct rewrite *rewrite, struct value *like,
                                 const struct type *type, const void *data);

/* The node that computes the value when its operator is `op`, else NULL. */
struct node *defined_by(const struct value *value, enum op op);
/* The same when nobody else reads the value: what is inside a pattern may vanish. */
struct node *only_defined_by(const struct value *value, enum op op);

/* Of a node with two inputs, the constant one; *other is the other one. NULL if neither is, or both
 * are. */
struct value *constant_side(const struct node *node, struct value **other);

/* Whether the value is a constant all of whose elements are this float (after rounding it to the
 * element type). */
bool is_number(const struct value *value, double number);

/* Whether a constant of shape `type` varies over axis `axis` of `shape` at most, when broadcast. */
bool is_per_axis(const struct type *type, const struct type *shape, int axis);

#endif
