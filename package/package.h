/* package.h - the files of `relayc compile` as a package for an ecosystem of firmware: one tree, which Arduino,
 * PlatformIO, ESP-IDF, Zephyr, CMSIS-Pack, CMake, make and Conan read as it is.
 *
 * formats.def says which file belongs to which formats; the files are templates/package, where @key@ stands for a text. */
#ifndef PACKAGE_PACKAGE_H
#define PACKAGE_PACKAGE_H

#include <cjson/cJSON.h>

#include "base/dtype.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"

enum package_format {
#define FORMAT(symbol, name) FORMAT_##symbol,
#define FILE_OF(formats, file, path)
#include "package/formats.def"
#undef FORMAT
#undef FILE_OF
    FORMAT_COUNT
};

/* An input, an output, or a pool of the arena, of a generated model. */
struct package_tensor {
    const char *parameter; /* C name in NAME.h */
    const char *function;  /* --io-in-arena: function that gives its place; else NULL */
    const char *pool;      /* and the name of the arena's pointer there */
    enum dtype dtype;
    int64_t elements;
};

struct package_pool {
    const char *parameter; /* "arena", "arena_fast" */
    size_t bytes;
};

struct package_model {
    const char *name, *upper; /* "kws", "KWS" */
    const char *options, *source, *sha256;
    size_t state_bytes; /* of struct NAME_state; 0 = none */
    size_t weight_bytes, arena_bytes, align, stack_bytes; /* stack: 0 = not measured */
    int n_inputs, n_outputs, n_pools, n_files;
    struct package_tensor *inputs, *outputs;
    struct package_pool *pools;
    const char **files; /* names within the folder */
    bool shares_kernels; /* its C includes relayc_kernels.h */
};

struct package {
    struct ctx *ctx;
    struct output_set *outputs;
    const char *from;        /* folder of `relayc compile` */
    const char *to;          /* folder of the package */
    const char *name;        /* NULL: that of the first model */
    unsigned formats;        /* bits of enum package_format */
    const char *cc, *cflags; /* of the host; NULL = $CC or cc, -O1 */
    bool shares_arena;       /* the folder has shared_arena.h */
    bool shares_kernels;     /* a model has relayc_kernels.h and relayc_kernels.c */
    int n_models;
    struct package_model *models;
    struct map keys;          /* @key@ -> text */
    int n_facts;              /* of --set */
    const char *const *facts; /* "vendor=Acme" */
};

/* Names of the formats, NULL-terminated. */
const char *const *package_format_names(void);

/* Bits of "cmake,zephyr" or "all". False after a usage error. */
bool package_formats_parse(struct ctx *ctx, const char *text, unsigned *out);

/* Writes the tree into package->outputs. False after errors. */
bool package_write(struct package *package);

/* --- parts of package_write ------------------------------------------------------------------- */

/* read.c: the models of NAME.json in the folder. */
bool package_read(struct package *package);
const char *package_upper(struct arena *arena, const char *name); /* "KWS" */

/* facts.c: all keys; --set overrides those that only the user knows. */
bool package_collect_keys(struct package *package);
void package_key(struct package *package, const char *key, const char *text);
bool package_expand(struct package *package, const char *file, struct str *out);

/* selftest.c: the C that runs each model on inputs of a formula and compares; its numbers come from the same C, built
 * for this machine. */
bool package_selftest(struct package *package, struct str *out);

#endif
