/* plan.h - internal: a function as steps over slots.
 *
 * Calls are inlined, views are aliases; every other node is one step or more: a oneDNN primitive,
 * the reference evaluator, or a reorder between layouts. Memory of slots is planned before the
 * first run. */
#ifndef RUNTIME_ENGINE_PLAN_H
#define RUNTIME_ENGINE_PLAN_H

#include <oneapi/dnnl/dnnl.h>

#include "relay_ir/interpret.h"
#include "runtime/engine/mark.h"

struct native; /* native.h */
struct shared; /* reuse.c */

enum home {
    HOME_POOL,  /* intermediate value in shared memory */
    HOME_INPUT, /* the caller's tensor */
    HOME_KEPT,  /* kept from an earlier run (reuse.h); located at run time */
    HOME_FIXED  /* constant, or computed while planning */
};

struct storage {
    enum home home;
    size_t bytes;
    size_t offset;     /* HOME_POOL: offset in the pool */
    int input;         /* HOME_INPUT: index */
    const void *data;  /* HOME_FIXED, HOME_KEPT */
    int first, last;   /* HOME_POOL: first writing and last reading step */
    struct mark mark;  /* hash of the content if plan->shared is set (marks.c) */
    struct kept *kept; /* HOME_KEPT */
    bool needed;       /* HOME_POOL: needed by a step that runs, or by the caller */
    struct storage *next;
};

/* A value in one layout. */
struct slot {
    struct type type;
    bool has_layout;           /* oneDNN has the element type, or one of its size */
    dnnl_memory_desc_t layout; /* dims are the type's; a scalar has one dim of 1 */
    bool plain;                /* dense and row-major, as all but oneDNN need */
    struct storage *storage;
    struct copy *copies;
    struct slot *decoded; /* converted to f32; NULL = not requested yet */
    uint8_t fill;         /* blocked bytes: value of the elements that pad the last block */
};

/* A slot reordered to another layout, shared by its readers. */
struct copy {
    dnnl_memory_desc_t as, wanted;
    struct slot *slot;
    struct copy *next;
};

struct step {
    const struct node *node;    /* NULL = a reorder */
    dnnl_primitive_t primitive; /* NULL = native, else the reference evaluator */
    const struct native *native;
    const char *impl; /* oneDNN's name for the implementation, or native.c's */
    const char *why;  /* reference: why not oneDNN */
    int n_fused;      /* primitive: nodes fused after `node` */
    const struct node **fused;
    int n_slots;              /* primitive: of its arguments; reference: inputs, then outputs */
    struct slot **slots;      /* NULL = absent optional input */
    int n_args;               /* primitive: one for each slot, and oneDNN's working memory if it */
    dnnl_exec_arg_t *args;    /* wants some, which oneDNN allocates */
    struct tensor *tensors;   /* reference: one for each slot, and */
    const struct tensor **in; /* pointers to those of the inputs */
    struct step *next;
};

/* What an observer sees: `value` is available before step `at`. */
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
    bool fuse; /* fuse element-wise nodes of regions as post-ops */
    struct step *first, *last;
    int n_steps;
    struct sight *sights, *last_sight;
    struct storage *storages; /* newest first */
    int n_params, n_results;
    struct slot **params, **results;
    struct bulk pool_memory;
    char *pool;
    int n_onednn, n_reference;
    struct { /* of oneDNN, while they are in no step: released with the plan if memory runs out */
        dnnl_post_ops_t post_ops;
        dnnl_primitive_desc_t desc;
        dnnl_primitive_t primitive;
    } held;
    struct shared *shared; /* shared with plans of other variants (reuse.h); NULL = none */
};

/* plan.c */
/* Builds steps and slots without memory; plan_place and plan_bind follow. */
struct plan *plan_build(struct ctx *ctx, dnnl_engine_t engine, dnnl_stream_t stream,
                        struct function *fn, bool fuse, struct shared *shared);
struct plan *plan_new(struct ctx *ctx, dnnl_engine_t engine, dnnl_stream_t stream,
                      struct function *fn, bool fuse); /* NULL after an error */
void plan_free(struct plan *plan);
bool plan_run(struct plan *plan, const struct tensor *inputs, struct tensor *outputs,
              struct bulk *bulk, const struct observer *observer);

/* Parts of plan_run. inputs NULL: binds what is constant between runs. */
bool plan_bind(struct plan *plan, const struct tensor *inputs);
bool plan_run_step(struct plan *plan, const struct step *step, const struct tensor *inputs);
bool plan_take_results(struct plan *plan, const struct tensor *inputs, struct tensor *outputs,
                       struct bulk *bulk);

/* Appends a step of n slots (and n args when it is a primitive). */
struct step *plan_step(struct plan *plan, const struct node *node, dnnl_primitive_t primitive,
                       int n, struct slot *const *slots);

/* False after an ENGINE error with oneDNN's message, unless status is success. */
bool plan_check(struct plan *plan, const struct node *node, dnnl_status_t status,
                const char *doing);

/* slots.c */
/* Row-major layout of a type; false if oneDNN lacks the element type. */
bool layout_plain(const struct type *type, dnnl_memory_desc_t *layout);
/* A dense row-major f32 layout of these dims. */
dnnl_memory_desc_t layout_dense(int rank, const int64_t *dims);
/* f32 layout of these dims, chosen by oneDNN. */
dnnl_memory_desc_t layout_any(int rank, const int64_t *dims);

struct slot *slot_fixed(struct plan *plan, const struct type *type, const void *data);
struct slot *slot_input(struct plan *plan, const struct type *type, int input);
/* A slot in the pool, written by the next step; layout NULL = plain. */
struct slot *slot_pool(struct plan *plan, const struct type *type,
                       const dnnl_memory_desc_t *layout);
/* A view with another shape; slot is plain. */
struct slot *slot_view(struct plan *plan, struct slot *slot, const struct type *type);

/* The slot, or a copy, in row-major order. NULL after an error. */
struct slot *slot_plain(struct plan *plan, struct slot *slot);
/* The slot, interpreted in layout `as`, in layout `wanted`: itself if they are equal, else a copy
 * by a reorder step (constants: at once). NULL after an error. */
struct slot *slot_in_layout(struct plan *plan, struct slot *slot, const dnnl_memory_desc_t *as,
                            const dnnl_memory_desc_t *wanted);

/* Marks the slot as read by the next step, or by the caller at the end. */
void slot_touch(const struct plan *plan, struct slot *slot);

/* Assigns offsets in the pool and allocates it. */
void plan_place(struct plan *plan);

/* Address of a slot's data during a run with these inputs. */
void *slot_data(const struct plan *plan, const struct slot *slot, const struct tensor *inputs);

/* marks.c: hashes of storages, as far as they are known without a run. */
void marks_of_plan(struct plan *plan);                                 /* of all storages */
struct mark mark_of_fixed(struct plan *plan, struct storage *storage); /* of a constant */
struct mark mark_of_reorder(struct plan *plan, struct slot *slot, const dnnl_memory_desc_t *as,
                            const dnnl_memory_desc_t *wanted); /* of a constant, in a layout */

/* reuse.c: constants that an earlier plan has reordered, by hash. */
const void *shared_constant(const struct shared *shared, struct mark mark); /* NULL: none */
struct mark shared_mark(const struct shared *shared,
                        const void *data); /* of data that stays alive */

/* Writes the slot's data row-major into `to`, outside of the plan. */
bool slot_export(struct plan *plan, const struct slot *slot, void *from, void *to);

#endif
