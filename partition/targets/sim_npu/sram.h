/* sram.h - allocator of the accelerator's memory while a stream is encoded. */
#ifndef PARTITION_TARGETS_SIM_NPU_SRAM_H
#define PARTITION_TARGETS_SIM_NPU_SRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* An allocated block of SRAM. */
struct sram_block {
    uint32_t address, bytes;
    int owner;               /* index of the encoder's value; -1 = working memory of a composite */
    bool pinned;             /* in use by the composite being encoded */
    struct sram_block *next; /* sorted by address */
};

struct sram {
    struct arena *arena;
    struct sram_block *first;
    uint32_t peak;
};

/* Allocates in the lowest gap that fits; NULL if there is none. */
struct sram_block *sram_take(struct sram *sram, uint64_t bytes, int owner);
void sram_give_back(struct sram *sram, struct sram_block *block);

#endif
