/* encoder.h - a region becomes a command stream: shared by encoder.c (memory, commands) and
 * operators.c (what each operator is). */
#ifndef PARTITION_TARGETS_SIM_NPU_ENCODER_H
#define PARTITION_TARGETS_SIM_NPU_ENCODER_H

#include "partition/target.h"
#include "partition/targets/sim_npu/sim_npu.h"
#include "partition/targets/sim_npu/sram.h"

/* A value of the region's function, by id. */
struct held {
    struct sram_block *block; /* NULL = not in SRAM */
    bool stored;              /* the host has it: an input, or stored to an output or the scratch */
    int last;                 /* the last composite that reads it */
    bool is_result;
};

struct bytes {
    uint8_t *at;
    size_t n, capacity;
};

struct encoder {
    struct ctx *ctx;
    struct arena *arena;
    const struct region_view *view;
    struct sram sram;
    struct held *held;         /* by value id of the region's function */
    const struct value **root; /* behind views, likewise */
    struct bytes commands, constants;
    const struct node *call;    /* the composite that is being encoded */
    struct function *composite; /* its function, numbered */
    struct sram_block **inner;  /* by value id of the composite: what has been computed */
    uint32_t scratch_bytes;     /* of the host, that is used */
    const char *why;            /* an error: what could not be encoded */
};

/* The block in which an input of a composite's node lies: a parameter (loaded where needed), a
 * constant (loaded), or what a node before computed. NULL after an error. */
struct sram_block *encoder_operand(struct encoder *e, const struct value *value);

/* Constant bytes in SRAM. */
struct sram_block *encoder_constant(struct encoder *e, const void *data, size_t bytes);

/* Working memory of the composite. */
struct sram_block *encoder_take(struct encoder *e, uint64_t bytes);

/* Whether a block may be overwritten: working memory whose value nobody else of the composite
 * reads. */
bool encoder_is_own(const struct encoder *e, const struct sram_block *block);

void encoder_command(struct encoder *e, enum sim_npu_opcode opcode, int n,
                     const uint32_t *operands);

bool encoder_refuse(struct encoder *e, const char *why);

/* Encodes one node of a composite: e->inner of its output is set. False after an error. */
bool encode_node(struct encoder *e, const struct node *node);

#endif
