/* encoder.h - encodes a region as a command stream; shared by encoder.c (memory, commands) and
 * operators.c (one function per operator). */
#ifndef PARTITION_TARGETS_SIM_NPU_ENCODER_H
#define PARTITION_TARGETS_SIM_NPU_ENCODER_H

#include "partition/target.h"
#include "partition/targets/sim_npu/sim_npu.h"
#include "partition/targets/sim_npu/sram.h"

/* State of a value of the region's function. */
struct held {
    struct sram_block *block; /* NULL = not in SRAM */
    bool stored;              /* in host memory: an input, or stored to an output or the scratch */
    int last;                 /* last composite that reads it */
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
    struct held *held;         /* by value id of the region */
    const struct value **root; /* by value id: the value behind views */
    struct bytes commands, constants;
    const struct node *call;    /* composite being encoded */
    struct function *composite; /* its function, numbered */
    struct sram_block **inner;  /* by value id of the composite: computed so far */
    uint32_t scratch_bytes;     /* host scratch in use */
    const char *why;            /* error: what could not be encoded */
};

/* SRAM block of an operand: a parameter (loaded if needed), a constant (loaded) or an earlier
 * result. NULL after an error. */
struct sram_block *encoder_operand(struct encoder *e, const struct value *value);

/* Loads constant bytes into SRAM. */
struct sram_block *encoder_constant(struct encoder *e, const void *data, size_t bytes);

/* Allocates working memory for the composite. */
struct sram_block *encoder_take(struct encoder *e, uint64_t bytes);

/* True if the block may be overwritten: working memory with no further reader in the composite. */
bool encoder_is_own(const struct encoder *e, const struct sram_block *block);

void encoder_command(struct encoder *e, enum sim_npu_opcode opcode, int n,
                     const uint32_t *operands);

bool encoder_refuse(struct encoder *e, const char *why);

/* Encodes one node of a composite and sets e->inner of its output. False after an error. */
bool encode_node(struct encoder *e, const struct node *node);

#endif
