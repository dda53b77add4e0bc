/* target.h - a target is data: which composites it takes, at what cost, how they are called.
 *
 * A folder: target.json (docs/guide/backends.md has the schema), templates, and for targets that
 * ship perhaps hooks.c. Targets that ship are embedded in the binary; --target-dir DIR adds others,
 * or replaces one of the same name. What JSON and templates cannot say, hooks in C do: for targets
 * that ship a row in targets/hooks.def, for others a plug-in (runtime/abi/relayc_plugin.h). */
#ifndef PARTITION_TARGET_H
#define PARTITION_TARGET_H

#include "partition/pattern.h"

/* What the generated code does with a region of this target. */
enum target_format {
    FORMAT_C,      /* composites become C text by templates: NAME_TARGET.c */
    FORMAT_EXTERN, /* a call of a function that the user writes: prototype and constants only */
    FORMAT_STREAM, /* a bit stream made by the hook `assemble`, handed to a function of the target
                    */
    FORMAT_JSON    /* a JSON graph (docs/guide/graph-json.md), and a call as for FORMAT_EXTERN */
};

struct condition {
    struct expression *test;
    struct source source;
};

/* "let": names for expressions over captures and earlier lets; for conditions, costs, and ${name}
 * in templates. */
struct definition {
    const char *name;
    struct expression *value;
    struct source source;
};

struct target;
struct lowering;

/* One row of a target: a pattern and what belongs to it. */
struct composite_row {
    const char *name; /* "dnnl.conv2d_act": the target's name, '.', and the row's */
    const char *text; /* of the pattern */
    struct pattern *pattern;
    struct source source; /* of that text */
    int n_conditions, n_lets;
    struct condition *conditions; /* all must hold */
    struct definition *lets;
    /* C tables only: what conditions cannot say. False: *found and *wanted as in expression_holds.
     */
    bool (*check)(const struct match *match, struct arena *arena, const char **found,
                  const char **wanted);
    struct expression *cost_ns; /* NULL = by the target's rates */
    struct expression *scratch; /* bytes that the call needs in the plan; NULL = 0 */
    struct source cost_source, scratch_source;
    int n_in_place; /* captures whose memory the first output may take over */
    const char **in_place;
    const char
        *template_file; /* "conv2d.c.tmpl" in the target's folder; NULL = none (not FORMAT_C) */
    const char *template_text;
    const struct target *target;
};

enum { LIMIT_NONE = 0 };

struct target_limits {
    int64_t max_nodes; /* operators per region; LIMIT_NONE = no limit (so for all) */
    int64_t max_macs, max_weight_bytes;
    int64_t max_onchip_bytes; /* inputs, outputs, weights (where weights_onchip) and what is alive
                                 at one time in between */
    bool weights_onchip;
    int64_t min_macs; /* a region with fewer goes back to the host */
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
    uint32_t crc32;       /* of target.json and the files that it names, as they were read */
    struct source source; /* of its name */
    enum target_format format;
    int n_rows;
    struct composite_row *rows; /* in order of priority: the first match wins, so longest first */
    struct target_limits limits;
    struct target_rates rates;
    bool keep_on_host[OP_COUNT];
    const char *prologue;        /* text of NAME_TARGET.c before the regions: includes, helpers;
                             template text, keys: name, upper; NULL = none */
    const char *region_template; /* around a region's composites; NULL = default
                                    (docs/guide/backends.md) */
    int n_headers;               /* files copied beside NAME.c: names and texts */
    const char **header_names, **header_texts;
    int n_host_files; /* built into it where verify and run --with generated build the C */
    const char **host_names, **host_texts;
    const char *host_flags;                  /* of the compiler: "-ldnnl"; "" = none */
    const char *prologue_file, *region_file; /* where these texts come from, for messages */
    const char *plugin;                      /* a file in the folder; NULL = none */
    const struct target_hooks *hooks;        /* NULL = none */
    struct target *next;
};

/* --- hooks -------------------------------------------------------------------------------------
 */

/* What a hook hands to the code generator for one composite or region. */
struct lowering {
    struct ctx *ctx;
    struct arena *arena; /* lives until the output is written */
    struct lowering_key {
        const char *name, *text;
        bool is_array; /* text is the name of a lowering_array, and becomes its C expression */
        struct lowering_key *next;
    } * keys;
    struct lowering_array { /* constant data that the text reads */
        const char *name;
        struct type type;
        const void *data;   /* in bulk memory of the module (constant_alloc) or in the arena */
        const char *layout; /* for the comment; "" = row-major of the type */
        struct lowering_array *next;
    } * arrays;
    size_t scratch_bytes;  /* besides the row's expression */
    const uint8_t *stream; /* FORMAT_STREAM, by assemble */
    size_t stream_bytes;
    size_t
        value_bytes; /* for assemble: how many of region_view.scratch_bytes the stream touches, from
                        the first on. Begins as all of them; what stays on chip needs none. */
};

void lowering_text(struct lowering *lowering, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void lowering_int(struct lowering *lowering, const char *key, int64_t value);
/* ${key} becomes the C expression of a constant array with these numbers. */
void lowering_array(struct lowering *lowering, const char *key, const struct type *type,
                    const void *data, const char *layout);

/* Where assemble finds a value of a region while it runs. */
struct region_place {
    enum { REGION_INPUT, REGION_OUTPUT, REGION_SCRATCH, REGION_CONSTANT } kind;
    int index;     /* of the input, output, or constant */
    size_t offset; /* REGION_SCRATCH: bytes, aligned to 16 */
};

struct region_view {
    struct function *fn; /* the body: calls of composite functions and views; numbered */
    const struct region_place *places; /* by value id of fn */
    size_t scratch_bytes;              /* of the intermediate values, and call_scratch */
    const size_t *call_scratch; /* by node id of fn: where in the scratch a call has the bytes
                                           that its row's `scratch` asks for */
};

struct target_hooks {
    const char *target;

    /* Pattern rows in C, behind those of target.json; text as in JSON. */
    const struct composite_c_row {
        const char *name, *pattern;
        const char *const *conditions; /* ends with NULL; NULL = none */
        bool (*check)(const struct match *match, struct arena *arena, const char **found,
                      const char **wanted);
        const char *template_file;
    } * rows;
    int n_rows;

    /* Asked by composite_accepts, behind the row's conditions and check: for plug-ins, which see
     * all rows of target.json. NULL = none. */
    bool (*accepts)(const struct composite_row *row, const struct match *match, struct arena *arena,
                    const char **found, const char **wanted);

    /* Asked by composite_cost_ns first; negative = by the row and the rates. NULL = none. */
    double (*cost_ns)(const struct composite_row *row, const struct match *match,
                      struct arena *arena);

    /* Runs on each region function after partitioning; may rewrite it (constants included) as long
     * as the interface stays. NULL = none. */
    bool (*optimise)(struct ctx *ctx, struct function *region);

    /* Adds keys and arrays for a composite's template: what expressions cannot compute (multiplier
     * and shift arrays, packed weights). False after an error. NULL = none. */
    bool (*lower)(const struct composite_row *row, const struct match *match,
                  struct lowering *lowering);

    /* FORMAT_STREAM: the whole region as bytes. */
    bool (*assemble)(const struct target *target, const struct region_view *region,
                     struct lowering *lowering);
};

/* --- loading -----------------------------------------------------------------------------------
 */

struct targets {
    struct target *first; /* `c` first, then those that ship by name, then others as given */
};

/* Those that ship, and one per folder in dirs (which must hold target.json, or folders that do).
 * All errors of all files are reported, each with line and column. False after errors; *out holds
 * the targets that are well. */
bool targets_load(struct ctx *ctx, int n_dirs, const char *const *dirs, struct targets *out);

/* One target from the text of a target.json; read_file gives the files that it names (templates),
 * NULL when there is none. For targets_load and tests. NULL after errors. */
struct target *target_parse(struct ctx *ctx, const char *file, const char *text,
                            const char *(*read_file)(void *user, const char *name), void *user);

const struct target *targets_find(const struct targets *targets, const char *name);

/* The row whose composite name this is ("dnnl.conv2d_act"), NULL if there is none. */
const struct composite_row *targets_row(const struct targets *targets, const char *composite);

/* Whether the target takes this match of its row: conditions, then check. False: *found, *wanted.
 */
bool composite_accepts(const struct composite_row *row, const struct match *match,
                       struct arena *arena, const char **found, const char **wanted);

/* match_scope with the row's lets behind it. */
struct scope composite_scope(struct arena *arena, const struct composite_row *row,
                             const struct match *match);

/* The match of a composite function that partition has made: its row's pattern at its body. For
 * code generators. NULL after an INTERNAL error. */
struct match *composite_rematch(struct ctx *ctx, const struct composite_row *row,
                                struct function *composite);

/* Estimated nanoseconds of the composite on its target, without hand-over. */
double composite_cost_ns(const struct composite_row *row, const struct match *match,
                         struct arena *arena);

/* Why the row's cost_ns is not what counts ("divides by zero"); NULL = it is, or there is none. */
const char *composite_cost_problem(const struct composite_row *row, const struct match *match,
                                   struct arena *arena);

/* Estimated nanoseconds of one node on the host (by the rates of `c`), as a loop of its own. */
double host_cost_ns(const struct target *c, const struct node *node);

/* The node into whose loop the host takes this element-wise one, so that it costs nothing more
 * there; NULL = it has a loop of its own. It is the rule by which fuse_ops lets a group grow
 * (may_join): the same shape, behind an anchor (OUT_FUSABLE) or an element-wise node that nobody
 * else reads. Only as long as that node is on the host as well. */
const struct node *host_fused_into(const struct node *node);

#endif
