/* target.h - a backend (target) as data: the composites that it accepts, their cost, and how they
 * are called.
 *
 * A backend is a folder: target.json (schema in docs/guide/backends.md), templates, and optionally
 * hooks.c. Built-in backends are embedded in the binary; --target-dir DIR adds others, or replaces
 * one by name. Hooks in C do what JSON and templates cannot: built-in backends have a row in
 * targets/hooks.def, others a plug-in (runtime/abi/relayc_plugin.h). */
#ifndef PARTITION_TARGET_H
#define PARTITION_TARGET_H

#include "partition/pattern.h"

/* Form of a region of this backend in generated code. */
enum target_format {
    FORMAT_C,      /* composites become C by templates: NAME_TARGET.c */
    FORMAT_EXTERN, /* a call of a user's function: prototype and constants only */
    FORMAT_STREAM, /* bytes made by the hook `assemble`, passed to a function of the backend */
    FORMAT_JSON    /* a JSON graph (docs/guide/graph-json.md), and a call as for EXTERN */
};

struct condition {
    struct expression *test;
    struct source source;
};

/* "let": a named expression over captures and earlier lets, for conditions, costs, and ${name} in
 * templates. */
struct definition {
    const char *name;
    struct expression *value;
    struct source source;
};

struct target;
struct lowering;

/* A row of a backend: a pattern with conditions, costs and template. */
struct composite_row {
    const char *name; /* "dnnl.conv2d_act": backend's name, '.', row's name */
    const char *text; /* of the pattern */
    struct pattern *pattern;
    struct source source; /* of that text */
    int n_conditions, n_lets;
    struct condition *conditions; /* all must hold */
    struct definition *lets;
    /* C tables only: a check beyond conditions. False: *found and *wanted as of
     * expression_holds. */
    bool (*check)(const struct match *match, struct arena *arena, const char **found,
                  const char **wanted);
    struct expression *cost_ns; /* NULL = by the backend's rates */
    struct expression *scratch; /* scratch bytes of the call in the memory plan; NULL = 0 */
    struct source cost_source, scratch_source;
    int n_in_place; /* captures that the first output may overwrite */
    const char **in_place;
    const char
        *template_file; /* "conv2d.c.tmpl" in the target's folder; NULL = none (not FORMAT_C) */
    const char *template_text;
    const struct target *target;
};

enum { LIMIT_NONE = 0 };

struct target_limits {
    int64_t max_nodes; /* operators per region; LIMIT_NONE = no limit, for all limits */
    int64_t max_macs, max_weight_bytes;
    int64_t max_onchip_bytes; /* inputs, outputs, weights (if weights_onchip) and the peak of live
                                 intermediate values */
    bool weights_onchip;
    int64_t min_macs; /* a region with fewer returns to the host */
};

/* Estimated time, in nanoseconds: launch_ns per region, hand-over of every byte that enters or
 * leaves the region at transfer_ns_per_byte, per composite its cost_ns, or the MACs of each of its
 * operators * ns_per_mac (by the element type of that operator's first input; DTYPE_NONE = others)
 * + bytes read and written * ns_per_byte + call_ns. */
struct target_rates {
    double launch_ns, transfer_ns_per_byte, call_ns, ns_per_byte;
    int n_macs;
    struct {
        enum dtype dtype;
        double ns;
    } per_mac[DTYPE_COUNT]; /* n_macs of them; DTYPE_NONE is others */
};

struct target {
    const char *name, *description;
    const char *file;     /* of target.json, for messages */
    const char *folder;   /* NULL = embedded */
    uint32_t crc32;       /* of target.json and the files it names, as read */
    struct source source; /* position of its name */
    enum target_format format;
    int n_rows;
    struct composite_row *rows; /* by priority, longest pattern first: the first match wins */
    struct target_limits limits;
    struct target_rates rates;
    bool keep_on_host[OP_COUNT];
    const char *prologue;        /* template (keys: name, upper) of NAME_TARGET.c before the
                                    regions: includes, helpers; NULL = none */
    const char *region_template; /* template around a region's composites; NULL = default
                                    (docs/guide/backends.md) */
    int n_headers;               /* files copied beside NAME.c: names and texts */
    const char **header_names, **header_texts;
    int n_host_files; /* compiled and linked by verify and run --with generated */
    const char **host_names, **host_texts;
    const char *host_flags;                  /* for the compiler: "-ldnnl"; "" = none */
    const char *prologue_file, *region_file; /* their file names, for messages */
    const char *plugin;                      /* file in the folder; NULL = none */
    const struct target_hooks *hooks;        /* NULL = none */
    struct target *next;
};

/* --- hooks ------------------------------------------------------------------------------------ */

/* Output of a hook for one composite or region. */
struct lowering {
    struct ctx *ctx;
    struct arena *arena; /* lives until the output is written */
    struct lowering_key {
        const char *name, *text;
        bool is_array; /* text names a lowering_array, and expands to its C expression */
        struct lowering_key *next;
    } * keys;
    struct lowering_array { /* constant data for the generated text */
        const char *name;
        struct type type;
        const void *data;   /* in bulk memory of the module (constant_alloc) or in the arena */
        const char *layout; /* for the comment; "" = row-major of the type */
        struct lowering_array *next;
    } * arrays;
    size_t scratch_bytes;  /* in addition to the row's expression */
    const uint8_t *stream; /* FORMAT_STREAM, by assemble */
    size_t stream_bytes;
    size_t
        value_bytes; /* assemble: bytes of region_view.scratch_bytes that the stream uses, from the
                        first on. Initially all; on-chip values need none. */
};

void lowering_text(struct lowering *lowering, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void lowering_int(struct lowering *lowering, const char *key, int64_t value);
/* ${key} expands to the C expression of a constant array with this data. */
void lowering_array(struct lowering *lowering, const char *key, const struct type *type,
                    const void *data, const char *layout);

/* Location of a region's value at run time, for assemble. */
struct region_place {
    enum { REGION_INPUT, REGION_OUTPUT, REGION_SCRATCH, REGION_CONSTANT } kind;
    int index;     /* of the input, output, or constant */
    size_t offset; /* REGION_SCRATCH: bytes, aligned to 16 */
};

struct region_view {
    struct function *fn; /* the body: calls of composite functions and views; numbered */
    const struct region_place *places; /* by value id of fn */
    size_t scratch_bytes;              /* of intermediate values and call_scratch */
    const size_t *call_scratch; /* by node id of fn: offset in the scratch of the bytes that the
                                   call's row asks for */
};

struct target_hooks {
    const char *target;

    /* Pattern rows in C, after those of target.json; text as in JSON. */
    const struct composite_c_row {
        const char *name, *pattern;
        const char *const *conditions; /* ends with NULL; NULL = none */
        bool (*check)(const struct match *match, struct arena *arena, const char **found,
                      const char **wanted);
        const char *template_file;
    } * rows;
    int n_rows;

    /* Called by composite_accepts after the row's conditions and check; for plug-ins, which see all
     * rows. NULL = none. */
    bool (*accepts)(const struct composite_row *row, const struct match *match, struct arena *arena,
                    const char **found, const char **wanted);

    /* Called by composite_cost_ns first; negative = use the row and the rates. NULL = none. */
    double (*cost_ns)(const struct composite_row *row, const struct match *match,
                      struct arena *arena);

    /* Called for each region function after partitioning; may rewrite its body (constants included)
     * but not its interface. NULL = none. */
    bool (*optimise)(struct ctx *ctx, struct function *region);

    /* Adds keys and arrays for a composite's template that expressions cannot compute (multiplier
     * and shift arrays, packed weights). False after an error. NULL = none. */
    bool (*lower)(const struct composite_row *row, const struct match *match,
                  struct lowering *lowering);

    /* FORMAT_STREAM: encodes the region as bytes. */
    bool (*assemble)(const struct target *target, const struct region_view *region,
                     struct lowering *lowering);
};

/* --- loading ---------------------------------------------------------------------------------- */

struct targets {
    struct target *first; /* `c` first, then built-in ones by name, then others as given */
};

/* Loads the built-in backends, and those in dirs (folders with a target.json, or parents of such).
 * All errors of all files are reported, with line and column. False after errors; *out holds the
 * valid backends. */
bool targets_load(struct ctx *ctx, int n_dirs, const char *const *dirs, struct targets *out);

/* Parses one target.json; read_file returns the text of a file that it names (templates), NULL if
 * there is none. For targets_load and tests. NULL after errors. */
struct target *target_parse(struct ctx *ctx, const char *file, const char *text,
                            const char *(*read_file)(void *user, const char *name), void *user);

const struct target *targets_find(const struct targets *targets, const char *name);

/* Row by composite name ("dnnl.conv2d_act"), NULL if there is none. */
const struct composite_row *targets_row(const struct targets *targets, const char *composite);

/* True if conditions and check of the row hold for the match; else *found and *wanted. */
bool composite_accepts(const struct composite_row *row, const struct match *match,
                       struct arena *arena, const char **found, const char **wanted);

/* match_scope with the row's lets added. */
struct scope composite_scope(struct arena *arena, const struct composite_row *row,
                             const struct match *match);

/* Matches the row's pattern against an outlined composite function, for code generators. NULL after
 * an INTERNAL error. */
struct match *composite_rematch(struct ctx *ctx, const struct composite_row *row,
                                struct function *composite);

/* Estimated nanoseconds of the composite on its backend, without hand-over. */
double composite_cost_ns(const struct composite_row *row, const struct match *match,
                         struct arena *arena);

/* Why the row's cost_ns is unusable ("divides by zero"); NULL = usable, or none. */
const char *composite_cost_problem(const struct composite_row *row, const struct match *match,
                                   struct arena *arena);

/* Estimated nanoseconds of one node on the host (rates of `c`) in a loop of its own. */
double host_cost_ns(const struct target *c, const struct node *node);

/* The node whose host loop this element-wise node joins at no cost; NULL = its own loop. Follows
 * fuse_ops (may_join): equal shapes, after an anchor (OUT_FUSABLE) or an element-wise node with no
 * other reader. Valid only if that node is on the host too. */
const struct node *host_fused_into(const struct node *node);

#endif
