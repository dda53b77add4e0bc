/* plan.h - inside the engine: a function turned into steps over slots.
 *
 * Calls are inlined, views are aliases, everything else is one step or more: a oneDNN primitive,
 * the reference evaluator, or a reorder between layouts. Where each slot lies is settled before the
 * first run. */
#ifndef RUNTIME_ENGINE_PLAN_H
#define RUNTIME_ENGINE_PLAN_H

#include <oneapi/dnnl/dnnl.h>

#include "relay_ir/interpret.h"
#include "runtime/engine/mark.h"

struct native; /* native.h */
struct shared; /* reuse.c */

enum home {
    HOME_POOL,  /* an intermediate value: shares memory with others */
    HOME_INPUT, /* the caller's tensor */
    HOME_KEPT,  /* kept from an earlier run, see reuse.h: the run says where */
    HOME_FIXED  /* a constant, or what was made of one while planning */
};

struct storage {
    enum home home;
    size_t bytes;
    size_t offset;     /* HOME_POOL: within the pool */
    int input;         /* HOME_INPUT: which one */
    const void *data;  /* HOME_FIXED, HOME_KEPT */
    int first, last;   /* HOME_POOL: the steps that write it first and read it last */
    struct mark mark;  /* of what it holds; set where plan->shared is, see marks.c */
    struct kept *kept; /* HOME_KEPT */
    bool needed;       /* HOME_POOL: by a step that runs, or by the caller */
    struct storage *next;
};

/* The numbers of a value, in one layout. */
struct slot {
    struct type type;
    bool has_layout;           /* oneDNN knows the element type, or at least its size */
    dnnl_memory_desc_t layout; /* dims are the type's; a scalar has one dim of 1 */
    bool plain;                /* dense and row-major: what everybody but oneDNN understands */
    struct storage *storage;
    struct copy *copies;
    struct slot *decoded; /* the same numbers as f32; NULL = not asked for yet */
    uint8_t fill;         /* bytes in blocks: the elements that fill the last block up */
};

/* A slot with the same numbers in another layout, kept so that two readers share it. */
struct copy {
    dnnl_memory_desc_t as, wanted;
    struct slot *slot;
    struct copy *next;
};

struct step {
    const struct node *node;    /* NULL = a reorder */
    dnnl_primitive_t primitive; /* NULL = native, or else the reference evaluator */
    const struct native *native;
    const char *impl; /* oneDNN's name for the implementation, or native.c's */
    const char *why;  /* reference: why not oneDNN */
    int n_fused;      /* primitive: nodes behind `node` that it computes as well */
    const struct node **fused;
    int n_slots;              /* primitive: of its arguments; reference: inputs, then outputs */
    struct slot **slots;      /* NULL = absent optional input */
    int n_args;               /* primitive: one for each slot, and oneDNN's working memory if it */
    dnnl_exec_arg_t *args;    /* wants some, which oneDNN allocates */
    struct tensor *tensors;   /* reference: one for each slot, and */
    const struct tensor **in; /* pointers to those of the inputs */
    struct step *next;
};

/* "After the steps before `at`, this value is there": what an observer is shown. */
struct sight {
    const struct value *value;
    struct slot *slot;
    int at;
    bool inside; /* within a called function */
    struct sight *next;
};

struct plan {
    struct ctx *ctx;
    struct arena arena;
    struct bulk fixed;
    dnnl_engine_t engine; /* borrowed from struct engine, as is the stream */
    dnnl_stream_t stream;
    bool fuse; /* element-wise nodes of regions may become post-ops of their anchor */
    struct step *first, *last;
    int n_steps;
    struct sight *sights, *last_sight;
    struct storage *storages; /* newest first */
    int n_params, n_results;
    struct slot **params, **results;
    struct bulk pool_memory;
    char *pool;
    int n_onednn, n_reference;
    struct shared *shared; /* with plans of other variants, see reuse.h; NULL = nothing */
};

/* plan.c */
/* The steps and slots, without memory: plan_place and plan_bind come next. */
struct plan *plan_build(struct ctx *ctx, dnnl_engine_t engine, dnnl_stream_t stream,
                        struct function *fn, bool fuse, struct shared *shared);
struct plan *plan_new(struct ctx *ctx, dnnl_engine_t engine, dnnl_stream_t stream,
                      struct function *fn, bool fuse); /* NULL after an error */
void plan_free(struct plan *plan);
bool plan_run(struct plan *plan, const struct tensor *inputs, struct tensor *outputs,
              struct bulk *bulk, const struct observer *observer);

/* What plan_run consists of. inputs NULL: binds what does not change from run to run. */
bool plan_bind(struct plan *plan, const struct tensor *inputs);
bool plan_run_step(struct plan *plan, const struct step *step, const struct tensor *inputs);
bool plan_take_results(struct plan *plan, const struct tensor *inputs, struct tensor *outputs,
                       struct bulk *bulk);

/* Appends a step of n slots (and n args when it is a primitive). */
struct step *plan_step(struct plan *plan, const struct node *node, dnnl_primitive_t primitive,
                       int n, struct slot *const *slots);

/* False after an ENGINE error that says what oneDNN would not do, unless status is success. */
bool plan_check(struct plan *plan, const struct node *node, dnnl_status_t status,
                const char *doing);

/* slots.c */
/* The row-major layout of a type; false when oneDNN lacks the element type. */
bool layout_plain(const struct type *type, dnnl_memory_desc_t *layout);
/* A dense row-major f32 layout of these dims. */
dnnl_memory_desc_t layout_dense(int rank, const int64_t *dims);
/* The same dims, layout left to oneDNN. */
dnnl_memory_desc_t layout_any(int rank, const int64_t *dims);

struct slot *slot_fixed(struct plan *plan, const struct type *type, const void *data);
struct slot *slot_input(struct plan *plan, const struct type *type, int input);
/* In the pool, written by the step that comes next; layout NULL = plain. */
struct slot *slot_pool(struct plan *plan, const struct type *type,
                       const dnnl_memory_desc_t *layout);
/* The same numbers under another shape; slot is plain. */
struct slot *slot_view(struct plan *plan, struct slot *slot, const struct type *type);

/* The slot, or a copy, in row-major order. NULL after an error. */
struct slot *slot_plain(struct plan *plan, struct slot *slot);
/* The slot, read as layout `as`, in layout `wanted`: itself where they are equal, else a copy made
 * by a reorder step (of a constant: at once). NULL after an error. */
struct slot *slot_in_layout(struct plan *plan, struct slot *slot, const dnnl_memory_desc_t *as,
                            const dnnl_memory_desc_t *wanted);

/* The step that comes next (or, at the end, the caller) still reads the slot. */
void slot_touch(const struct plan *plan, struct slot *slot);

/* Settles where pool storages lie, and allocates the pool. */
void plan_place(struct plan *plan);

/* Where a slot's numbers are during a run with these inputs. */
void *slot_data(const struct plan *plan, const struct slot *slot, const struct tensor *inputs);

/* marks.c: what the storages hold, as far as it is known without running anything. */
void marks_of_plan(struct plan *plan);                                 /* of all */
struct mark mark_of_fixed(struct plan *plan, struct storage *storage); /* of a constant */
struct mark mark_of_reorder(struct plan *plan, struct slot *slot, const dnnl_memory_desc_t *as,
                            const dnnl_memory_desc_t *wanted); /* of a constant, in a layout */

/* reuse.c: constants in layouts that an earlier plan made, by their marks. */
const void *shared_constant(const struct shared *shared, struct mark mark); /* NULL: none */
struct mark shared_mark(const struct shared *shared, const void *data); /* of what stays alive */

/* Writes the slot's numbers row-major into `to` at once, outside of the plan. */
bool slot_export(struct plan *plan, const struct slot *slot, void *from, void *to);

#endif
