/* sram.h - what lies in the accelerator's memory while a stream is being made. */
#ifndef PARTITION_TARGETS_SIM_NPU_SRAM_H
#define PARTITION_TARGETS_SIM_NPU_SRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* A piece of SRAM. */
struct sram_block {
    uint32_t address, bytes;
    int owner;   /* of the encoder's values: index; -1 = working memory of a composite */
    bool pinned; /* needed by the composite that is being encoded */
    struct sram_block *next; /* by address */
};

struct sram {
    struct arena *arena;
    struct sram_block *first;
    uint32_t peak;
};

/* The lowest gap that is wide enough; NULL if there is none. */
struct sram_block *sram_take(struct sram *sram, uint64_t bytes, int owner);
void sram_give_back(struct sram *sram, struct sram_block *block);

#endif
