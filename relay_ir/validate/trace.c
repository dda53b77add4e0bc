/* trace.c - see trace.h. Results are found by a hash of what they depend on: operator, attributes,
 * the types of the outputs, and the types and elements of the inputs. */
#include "relay_ir/validate/trace.h"

#include <string.h>

#include "base/memory.h"
#include "relay_ir/layout.h"

/* --- hashes ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

enum { CHAINS = 8 }; /* so that a word need not wait for the one before it */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const char *at = bytes;
    uint64_t chain[CHAINS], word[CHAINS];
    size_t left = n;

    for (unsigned i = 0; i < CHAINS; i++)
        chain[i] = hash + i;
    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(word, at, sizeof word);
        for (int i = 0; i < CHAINS; i++)
            chain[i] = mix(chain[i], word[i]);
    }
    memset(word, 0, sizeof word);
    memcpy(word, at, left);
    for (int i = 0; i < CHAINS; i++)
        hash = mix(mix(hash, chain[i]), word[i]);
    return mix(hash, n);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text));
}

/* What evaluators see of a type: scales of blocks and the codec of AFP belong to the elements. */
static uint64_t hash_type(const struct type *type)
{
    const struct qtype *q = type->quant;
    uint64_t hash = mix((uint64_t)type->dtype + 1, (uint64_t)type->rank);

    for (int i = 0; i < type->rank; i++)
        hash = mix(hash, (uint64_t)type->dim[i]);
    if (type->dtype == DTYPE_AFP) {
        struct arena arena = { NULL };

        hash = hash_text(hash, type_text(&arena, type));
        arena_release(&arena);
    }
    if (type_has_blocks(type)) {
        hash = mix(hash, (uint64_t)q->block);
        hash = hash_bytes(hash, q->scale, (size_t)q->n * sizeof *q->scale);
        if (q->zero)
            hash = hash_bytes(hash, q->zero, (size_t)q->n * sizeof *q->zero);
    }
    return hash;
}

static uint64_t hash_attrs(uint64_t hash, enum op op, const union attrs *attrs)
{
    struct arena arena = { NULL };
    struct str text = { .arena = &arena };

    attrs_print(&text, op_row(op)->attrs, attrs);
    hash = hash_text(hash, str_text(&text));
    arena_release(&arena);
    return hash;
}

struct seen_tensor memory_see(const struct tensor *tensor)
{
    return (struct seen_tensor){ *tensor, hash_bytes(hash_type(&tensor->type), tensor->data,
                                                     type_bytes(&tensor->type)) };
}

/* --- results ---------------------------------------------------------------------------------- */

struct result {
    uint64_t key;
    int n, run; /* outputs; the run that asked for it last */
    struct seen_tensor *outputs;
    struct arena arena;
    struct bulk bulk;
    struct result *next;
};

enum { N_SLOTS = 4096 };

struct memory {
    int run;
    struct result *slots[N_SLOTS];
};

struct memory *memory_new(void)
{
    return block_alloc(sizeof(struct memory), 0);
}

static void result_free(struct result *result)
{
    arena_release(&result->arena);
    bulk_release(&result->bulk);
    block_free(result);
}

static void forget_before(struct memory *memory, int run)
{
    for (int i = 0; i < N_SLOTS; i++)
        for (struct result **link = &memory->slots[i]; *link;) {
            struct result *result = *link;

            if (result->run >= run) {
                link = &result->next;
                continue;
            }
            *link = result->next;
            result_free(result);
        }
}

void memory_free(struct memory *memory)
{
    if (!memory)
        return;
    forget_before(memory, memory->run + 1);
    block_free(memory);
}

void trace_forget(struct memory *memory)
{
    forget_before(memory, memory->run);
}

static struct result *result_find(struct memory *memory, uint64_t key)
{
    struct result *result = memory->slots[key % N_SLOTS];

    while (result && result->key != key)
        result = result->next;
    return result;
}

static struct result *result_new(uint64_t key, int n)
{
    struct result *result = block_alloc(sizeof *result, 0);

    result->key = key;
    result->n = n;
    result->outputs = arena_array(&result->arena, struct seen_tensor, n);
    return result;
}

static void result_put(struct memory *memory, struct result *result)
{
    struct result **slot = &memory->slots[result->key % N_SLOTS];

    result->run = memory->run;
    result->next = *slot;
    *slot = result;
}

static const struct result *result_again(struct memory *memory, uint64_t key)
{
    struct result *result = result_find(memory, key);

    if (result)
        result->run = memory->run;
    return result;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static uint64_t key_of(const struct node *node, const struct seen_tensor *const *in,
                       const struct type *const *outputs)
{
    uint64_t key = hash_attrs((uint64_t)node->op, node->op, &node->attrs);

    for (int i = 0; i < node->n_inputs; i++)
        key = mix(key, in[i] ? in[i]->hash : 0);
    for (int i = 0; i < node->n_outputs; i++)
        key = mix(key, hash_type(outputs[i]));
    return key;
}

/* The turned convolution's result, in the layout that the node writes. */
static const struct result *stored_result(struct memory *memory, uint64_t key, const char *layout,
                                          const struct type *y, const struct result *first)
{
    struct result *result = result_new(key, 1);
    struct tensor stored = tensor_new(&result->bulk, y);

    if (layout_is_last(layout))
        tensor_store_first(&first->outputs[0].tensor, layout, &stored);
    else
        memcpy(stored.data, first->outputs[0].tensor.data, type_bytes(y));
    result->outputs[0] = memory_see(&stored);
    result_put(memory, result);
    return result;
}

static bool is_turned(const struct node *node)
{
    return (node->op == OP_CONV1D || node->op == OP_CONV2D || node->op == OP_CONV3D) &&
           (layout_is_last(node_layout(node)) || layout_is_last(node_out_layout(node)));
}

static const struct result *turned_conv(struct memory *memory, struct ctx *ctx,
                                        const struct node *node,
                                        const struct seen_tensor *const *in, uint64_t key);

/* Computes the node; its result lies under the key then. NULL after an error of the evaluator. */
static const struct result *compute(struct memory *memory, struct ctx *ctx, const struct node *node,
                                    const struct seen_tensor *const *in,
                                    const struct type *const *types, uint64_t key)
{
    struct result *result = result_new(key, node->n_outputs);
    struct arena arena = { NULL };
    const struct tensor **inputs = arena_array(&arena, const struct tensor *, node->n_inputs);
    struct tensor *outputs = arena_array(&arena, struct tensor, node->n_outputs);
    bool ok;

    for (int i = 0; i < node->n_inputs; i++)
        inputs[i] = in[i] ? &in[i]->tensor : NULL;
    for (int i = 0; i < node->n_outputs; i++)
        outputs[i] = tensor_new(&result->bulk, types[i]);
    ok = op_row(node->op)->evaluate(ctx, node, inputs, outputs);
    for (int i = 0; i < node->n_outputs && ok; i++)
        result->outputs[i] = memory_see(&outputs[i]);
    arena_release(&arena);
    if (!ok) {
        result_free(result);
        return NULL;
    }
    result_put(memory, result);
    return result;
}

/* The node's result, computed if it is not known. */
static const struct result *result_of(struct memory *memory, struct ctx *ctx,
                                      const struct node *node, const struct seen_tensor *const *in,
                                      const struct type *const *types)
{
    const uint64_t key = key_of(node, in, types);
    const struct result *known = result_again(memory, key);

    if (known)
        return known;
    return is_turned(node) ? turned_conv(memory, ctx, node, in, key)
                           : compute(memory, ctx, node, in, types, key);
}

/* A convolution that reads or writes channels last is evaluated on channels-first data, as the
 * operator is defined in any layout (relay_ir/ops/conv.c), so that one of which only the layout has
 * changed is known already. */
static const struct result *turned_conv(struct memory *memory, struct ctx *ctx,
                                        const struct node *node,
                                        const struct seen_tensor *const *in, uint64_t key)
{
    static const char *const first_words[] = { "NCW", "NCHW",
                                               "NCDHW" }; /* as type inference says */
    struct node turned = *node;
    struct bulk bulk = { NULL, 0 };
    struct arena arena = { NULL };
    const struct type *y = &node->outputs[0]->type;
    const struct type first = type_channels_first(y, node_out_layout(node));
    const struct tensor data = tensor_channels_first(&bulk, &in[0]->tensor, node_layout(node));
    const struct seen_tensor x = memory_see(&data);
    const struct seen_tensor **inputs =
        arena_array(&arena, const struct seen_tensor *, node->n_inputs);
    const struct result *result;

    memcpy(inputs, in, (size_t)node->n_inputs * sizeof *inputs);
    inputs[0] = &x;
    turned.attrs.conv.data_layout = turned.attrs.conv.out_layout = first_words[y->rank - 3];
    result = result_of(memory, ctx, &turned, inputs, (const struct type *[]){ &first });
    if (result)
        result = stored_result(memory, key, node_out_layout(node), y, result);
    arena_release(&arena);
    bulk_release(&bulk);
    return result;
}

static bool evaluate(struct memory *memory, struct ctx *ctx, const struct node *node,
                     const struct seen_tensor *const *in, struct seen_tensor *out)
{
    struct arena arena = { NULL };
    const struct type **types;
    const struct result *result;

    types = arena_array(&arena, const struct type *, node->n_outputs);
    for (int i = 0; i < node->n_outputs; i++)
        types[i] = &node->outputs[i]->type;
    result = result_of(memory, ctx, node, in, types);
    for (int i = 0; result && i < node->n_outputs; i++)
        out[i] = result->outputs[i];
    arena_release(&arena);
    return result != NULL;
}

/* --- functions -------------------------------------------------------------------------------- */

struct running {
    struct memory *memory;
    struct trace *trace; /* of main; NULL inside regions */
    struct function *fn;
    struct seen_tensor *values; /* by id */
};

static bool run_function(struct memory *memory, struct function *fn,
                         const struct seen_tensor *inputs, struct seen_tensor *outputs,
                         struct trace *trace);

static bool run_node(struct running *r, struct arena *arena, const struct node *node)
{
    const struct seen_tensor **in = arena_array(arena, const struct seen_tensor *, node->n_inputs);
    struct seen_tensor *out = arena_array(arena, struct seen_tensor, node->n_outputs);
    bool ok;

    for (int i = 0; i < node->n_inputs; i++)
        in[i] = node->inputs[i] ? &r->values[node->inputs[i]->id] : NULL;
    if (node->op == OP_CALL) {
        struct seen_tensor *arguments = arena_array(arena, struct seen_tensor, node->n_inputs);

        for (int i = 0; i < node->n_inputs; i++)
            arguments[i] = *in[i];
        ok = run_function(r->memory, node->callee, arguments, out, NULL);
    } else {
        ok = evaluate(r->memory, r->fn->module->ctx, node, in, out);
    }
    for (int i = 0; i < node->n_outputs && ok; i++) {
        r->values[node->outputs[i]->id] = out[i];
        if (r->trace)
            r->trace->values[r->trace->n_values++] =
                (struct traced){ arena_strdup(&r->trace->arena, node->outputs[i]->name),
                                 node->origin, op_name(node->op), out[i] };
    }
    return ok;
}

static bool run_function(struct memory *memory, struct function *fn,
                         const struct seen_tensor *inputs, struct seen_tensor *outputs,
                         struct trace *trace)
{
    struct arena arena = { NULL };
    struct running r = { memory, trace, fn, NULL };
    bool ok = true;

    function_number(fn);
    r.values = arena_array(&arena, struct seen_tensor, fn->n_values);
    if (trace)
        trace->values = arena_array(&trace->arena, struct traced, fn->n_values);
    for (const struct value *v = fn->constants; v; v = v->next) {
        const struct tensor tensor = value_tensor(v);

        r.values[v->id] = memory_see(&tensor);
    }
    for (int i = 0; i < fn->n_params; i++)
        r.values[fn->params[i]->id] = inputs[i];
    for (const struct node *n = fn->first; n && ok; n = n->next)
        ok = run_node(&r, &arena, n);
    for (int i = 0; i < fn->ret->n_inputs && ok; i++)
        outputs[i] = r.values[fn->ret->inputs[i]->id];
    arena_release(&arena);
    return ok;
}

/* A tensor that no node computed, so that it lies in the memory: under its own hash. */
static struct seen_tensor keep(struct memory *memory, const struct seen_tensor *seen)
{
    const struct result *known = result_again(memory, ~seen->hash);
    struct result *result;

    if (known)
        return known->outputs[0];
    result = result_new(~seen->hash, 1);
    result->outputs[0] =
        (struct seen_tensor){ tensor_new(&result->bulk, &seen->tensor.type), seen->hash };
    memcpy(result->outputs[0].tensor.data, seen->tensor.data, type_bytes(&seen->tensor.type));
    result_put(memory, result);
    return result->outputs[0];
}

bool trace_run(struct memory *memory, struct module *module, const struct seen_tensor *inputs,
               struct trace *trace)
{
    struct function *fn = module->main;

    memory->run++;
    *trace = (struct trace){ .n_results = fn->ret->n_inputs };
    trace->results = arena_array(&trace->arena, struct seen_tensor, trace->n_results);
    trace->result_names = arena_array(&trace->arena, const char *, trace->n_results);
    if (!run_function(memory, fn, inputs, trace->results, trace))
        return false;
    for (int i = 0; i < trace->n_results; i++) {
        trace->result_names[i] = arena_strdup(&trace->arena, fn->result_names[i]);
        if (fn->ret->inputs[i]->kind != VALUE_OUTPUT) /* a constant, whose payload may go */
            trace->results[i] = keep(memory, &trace->results[i]);
    }
    return true;
}

void trace_free(struct trace *trace)
{
    arena_release(&trace->arena);
    *trace = (struct trace){ .n_values = 0 };
}

const struct traced *trace_find(const struct trace *trace, const char *name)
{
    for (int i = 0; i < trace->n_values; i++)
        if (strcmp(trace->values[i].name, name) == 0)
            return &trace->values[i];
    return NULL;
}
