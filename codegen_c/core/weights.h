/* weights.h - the constant arrays of the generated code, each content once. */
#ifndef CODEGEN_C_CORE_WEIGHTS_H
#define CODEGEN_C_CORE_WEIGHTS_H

#include "base/map.h"
#include "codegen_c/codegen.h"
#include "relay_ir/ir.h"

struct codegen;
struct region;

/* A region that reads an array. */
struct weight_reader {
    const struct function *fn;
    int region; /* its index */
    struct weight_reader *next;
};

/* A constant array of the generated code. */
struct weight {
    const char *c_name;     /* its symbol */
    const char *expression; /* how functions read it: c_name, or c_name.v of a union of words */
    const char *name;       /* the ONNX name, raw */
    struct type type;       /* of the elements, for the reader */
    struct type stored;     /* of the array in C: the same, or (packed) bytes or 16-bit words */
    bool packed;
    const void *data;
    const char *layout; /* "" = row-major of the type */
    uint32_t crc32;
    double least, greatest;        /* weights_find_statistics; NaN where there are no numbers … */
    double mean, deviation;        /* … mean and standard deviation, of the finite ones */
    bool own;                      /* shared with no other content of the same bytes */
    bool words;                    /* stored as a union of 64-bit words and the elements */
    int region;                    /* the first that reads it */
    uint64_t traffic;              /* with --pool: bytes that regions load of it in one run
                               (plan/order/traffic.h) */
    struct weight_reader *used_by; /* the regions that read it, the last first */
    const struct codegen_pool *pool; /* that takes it, if that has a section; NULL = none */
    uint64_t readers;    /* C files that read it: bit 0 is NAME.c, the others are those of
                            codegen->modules */
    int file;            /* index of its weights file */
    struct weight *next; /* in order of first use */
};

struct weights {
    struct map by_content; /* dtype, size, crc32 and a number -> struct weight */
    struct weight *first, *last;
    int n;
    size_t bytes;
};

/* The array with this content, made if there is none yet, for the file `reader` (a bit of
 * weight.readers); region (NULL = none) is counted when it is the first to read it. */
struct weight *weights_read(struct codegen *codegen, int reader, const struct region *region,
                            const char *name, const struct type *type, const void *data,
                            const char *layout);

/* As weights_read, but an array of its own even where another has the same content: what a number
 * of the training may change. */
struct weight *weights_read_own(struct codegen *codegen, int reader, const struct region *region,
                                const char *name, const struct type *type, const void *data,
                                const char *layout);

/* As weights_read, of quantised values without a gap between them: type_packed_bytes in all, the first code in
 * the lowest bits. The array is one of uint8_t; of uint16_t for f16 and bf16. */
struct weight *weights_read_packed(struct codegen *codegen, int reader, const struct region *region,
                                   const char *name, const struct type *type, const void *data,
                                   const char *layout);

/* A bit stream: as weights_read, but aligned to 8 bytes. */
struct weight *weights_stream(struct codegen *codegen, int reader, const char *name,
                              const struct type *type, const void *data);

/* Range, mean and standard deviation of all arrays, for their comments and NAME.json. */
void weights_find_statistics(struct codegen *codegen);

/* Whether the constants are so few bytes that all arrays are written as numbers. */
bool weights_are_readable(const struct module *module);

/* Whether the array is of more than a few elements: it begins where the CPU reads it fast. */
bool weight_is_large(const struct weight *weight);

/* Whether the file `reader` reads any array. */
bool weights_are_read(const struct codegen *codegen, int reader);

/* Whether any pool takes constants; for plan_pack then what there is to take, and afterwards
 * weight->pool. */
bool pools_take_constants(const struct codegen *codegen);
void offer_constants(struct codegen *codegen);
void settle_constants(struct codegen *codegen);

#endif
