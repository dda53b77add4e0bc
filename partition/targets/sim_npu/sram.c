#include "partition/targets/sim_npu/sram.h"

#include "partition/targets/sim_npu/sim_npu.h"

static uint32_t rounded(uint64_t bytes)
{
    return (uint32_t)((bytes + SIM_NPU_ALIGN - 1) / SIM_NPU_ALIGN * SIM_NPU_ALIGN);
}

struct sram_block *sram_take(struct sram *sram, uint64_t bytes, int owner)
{
    struct sram_block **at = &sram->first, *block;
    uint32_t address = 0, size;

    if (bytes > SIM_NPU_SRAM_BYTES)
        return NULL;
    size = rounded(bytes);
    while (*at && (*at)->address - address < size) {
        address = (*at)->address + (*at)->bytes;
        at = &(*at)->next;
    }
    if (!*at && SIM_NPU_SRAM_BYTES - address < size)
        return NULL;
    block = arena_new(sram->arena, struct sram_block);
    *block = (struct sram_block){
        .address = address, .bytes = size, .owner = owner, .pinned = true, .next = *at
    };
    *at = block;
    if (address + size > sram->peak)
        sram->peak = address + size;
    return block;
}

void sram_give_back(struct sram *sram, struct sram_block *block)
{
    struct sram_block **at = &sram->first;

    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
}
