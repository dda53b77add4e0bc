/* encoder.c - regions to command streams.
 *
 * method   composites in order; what later composites read stays in SRAM as long as there is room.
 *          Where there is none, everything that the composite does not need goes to the host, and
 *          in the worst case its operands as well, to be loaded again side by side: the rows'
 *          conditions see to it that one composite alone fits. */
#include "partition/targets/sim_npu/encoder.h"

#include <string.h>

static void append(struct encoder *e, struct bytes *bytes, const void *data, size_t n)
{
    if (bytes->n + n > bytes->capacity) {
        uint8_t *grown;

        bytes->capacity = 2 * (bytes->n + n) + 256;
        grown = arena_alloc(e->arena, bytes->capacity);
        if (bytes->n)
            memcpy(grown, bytes->at, bytes->n);
        bytes->at = grown;
    }
    if (n)
        memcpy(bytes->at + bytes->n, data, n);
    bytes->n += n;
}

static void append_word(struct encoder *e, struct bytes *bytes, uint32_t word)
{
    const uint8_t little[] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                               (uint8_t)(word >> 24) };

    append(e, bytes, little, sizeof little);
}

void encoder_command(struct encoder *e, enum sim_npu_opcode opcode, int n, const uint32_t *operands)
{
    append_word(e, &e->commands, (uint32_t)opcode | (uint32_t)(n + 1) << 8);
    for (int i = 0; i < n; i++)
        append_word(e, &e->commands, operands[i]);
}

bool encoder_refuse(struct encoder *e, const char *why)
{
    if (!e->why)
        e->why = why;
    return false;
}

static void transfer(struct encoder *e, enum sim_npu_opcode opcode, enum sim_npu_space space,
                     uint32_t index, uint32_t offset, const struct sram_block *block, size_t bytes)
{
    encoder_command(e, opcode, 4,
                    (const uint32_t[]){ (uint32_t)space | index << 8, offset, block->address,
                                        (uint32_t)bytes });
}

/* Moves a value between SRAM and its place on the host. */
static void move_value(struct encoder *e, enum sim_npu_opcode opcode, const struct value *value)
{
    const struct region_place *place = &e->view->places[value->id];
    const struct sram_block *block = e->held[value->id].block;
    const size_t bytes = type_bytes(&value->type);

    switch (place->kind) {
    case REGION_INPUT:
        transfer(e, opcode, SIM_NPU_INPUT, (uint32_t)place->index, 0, block, bytes);
        break;
    case REGION_OUTPUT:
        transfer(e, opcode, SIM_NPU_OUTPUT, (uint32_t)place->index, 0, block, bytes);
        break;
    default:
        transfer(e, opcode, SIM_NPU_SCRATCH, 0, (uint32_t)place->offset, block, bytes);
        if (place->offset + bytes > e->scratch_bytes)
            e->scratch_bytes = (uint32_t)(place->offset + bytes);
        break;
    }
}

static const struct value *value_of(const struct encoder *e, int id)
{
    for (const struct node *n = e->view->fn->first; n; n = n->next)
        for (int i = 0; i < n->n_outputs; i++)
            if (n->outputs[i]->id == id)
                return n->outputs[i];
    return e->view->fn->params[id]; /* parameters have the first ids */
}

/* Takes values out of SRAM: those that the composite does not need, or (all) every value that is no
 * working memory; what the host lacks is stored. */
static void evict(struct encoder *e, bool all)
{
    for (struct sram_block *block = e->sram.first, *next; block; block = next) {
        struct held *held;

        next = block->next;
        if (block->owner < 0 || (block->pinned && !all))
            continue;
        held = &e->held[block->owner];
        if (!held->stored)
            move_value(e, SIM_NPU_STORE, value_of(e, block->owner));
        held->stored = true;
        held->block = NULL;
        sram_give_back(&e->sram, block);
    }
}

static struct sram_block *take(struct encoder *e, uint64_t bytes, int owner)
{
    struct sram_block *block = sram_take(&e->sram, bytes, owner);

    if (!block) {
        evict(e, false);
        block = sram_take(&e->sram, bytes, owner);
    }
    if (!block)
        encoder_refuse(e, "the composite does not fit into the SRAM");
    return block;
}

struct sram_block *encoder_take(struct encoder *e, uint64_t bytes)
{
    return take(e, bytes, -1);
}

struct sram_block *encoder_constant(struct encoder *e, const void *data, size_t bytes)
{
    static const uint8_t zeros[SIM_NPU_ALIGN];
    struct sram_block *block = take(e, bytes, -1);
    size_t offset = 0;

    if (!block)
        return NULL;
    while (offset + bytes <= e->constants.n && memcmp(e->constants.at + offset, data, bytes) != 0)
        offset += SIM_NPU_ALIGN;
    if (offset + bytes > e->constants.n) {
        offset = e->constants.n;
        append(e, &e->constants, data, bytes);
        append(e, &e->constants, zeros, (size_t)(-(int64_t)e->constants.n & (SIM_NPU_ALIGN - 1)));
    }
    transfer(e, SIM_NPU_LOAD, SIM_NPU_CONSTANTS, 0, (uint32_t)offset, block, bytes);
    return block;
}

/* A value of the region, in SRAM. */
static struct sram_block *hold(struct encoder *e, const struct value *value)
{
    struct held *held = &e->held[value->id];

    if (held->block)
        return held->block;
    held->block = take(e, type_bytes(&value->type), value->id);
    if (held->block)
        move_value(e, SIM_NPU_LOAD, value);
    return held->block;
}

static const struct value *outer_of(const struct encoder *e, const struct value *param)
{
    return e->root[e->call->inputs[param->index]->id];
}

struct sram_block *encoder_operand(struct encoder *e, const struct value *value)
{
    if (value->kind == VALUE_OUTPUT)
        return e->inner[value->id];
    if (value->kind == VALUE_CONSTANT) {
        if (!e->inner[value->id])
            e->inner[value->id] = encoder_constant(e, value->data, type_bytes(&value->type));
        return e->inner[value->id];
    }
    return hold(e, outer_of(e, value));
}

bool encoder_is_own(const struct encoder *e, const struct sram_block *block)
{
    (void)e;
    return block->owner < 0;
}

/* What the composite will take at most, besides what it finds in SRAM. */
static uint64_t bytes_needed(const struct encoder *e)
{
    uint64_t needed = 0;

    for (int i = 0; i < e->call->n_inputs; i++) {
        const struct value *value = e->root[e->call->inputs[i]->id];

        if (!e->held[value->id].block)
            needed += type_bytes(&value->type) + SIM_NPU_ALIGN;
    }
    for (const struct node *n = e->composite->first; n; n = n->next) {
        const struct type *y = &n->outputs[0]->type;

        for (int i = 0; i < n->n_inputs; i++)
            if (n->inputs[i] && n->inputs[i]->kind == VALUE_CONSTANT)
                needed += type_bytes(&n->inputs[i]->type) + SIM_NPU_ALIGN;
        needed += type_bytes(y) + SIM_NPU_ALIGN;
        needed += y->rank > 1 ? 8 * (uint64_t)y->dim[1] + SIM_NPU_ALIGN : 0; /* its tables */
    }
    return needed;
}

/* Operands first. At most two are there already, so that what is free lies in at most three gaps
 * once all else is gone: when the composite takes less than a quarter of it, it fits. Otherwise the
 * SRAM is emptied, and everything comes side by side. */
static bool load_operands(struct encoder *e)
{
    uint64_t free_bytes = SIM_NPU_SRAM_BYTES;

    for (int i = 0; i < e->call->n_inputs; i++) {
        const struct value *value = e->root[e->call->inputs[i]->id];

        if (e->held[value->id].block)
            e->held[value->id].block->pinned = true;
    }
    for (const struct sram_block *block = e->sram.first; block; block = block->next)
        free_bytes -= block->bytes;
    if (bytes_needed(e) > free_bytes / 4)
        evict(e, true);
    for (int i = 0; i < e->call->n_inputs; i++)
        if (!hold(e, e->root[e->call->inputs[i]->id]))
            return false;
    return true;
}

/* The result stays as a value of the region; all else that the composite took goes back, and what
 * nobody will read any more. */
static void finish(struct encoder *e, int index)
{
    const struct value *result = e->call->outputs[0];
    struct held *held = &e->held[result->id];

    held->block = e->inner[e->composite->ret->inputs[0]->id];
    held->block->owner = result->id;
    if (held->is_result) {
        move_value(e, SIM_NPU_STORE, result);
        held->stored = true;
    }
    for (struct sram_block *block = e->sram.first, *next; block; block = next) {
        next = block->next;
        block->pinned = false;
        if (block->owner >= 0 && e->held[block->owner].last > index)
            continue;
        if (block->owner >= 0)
            e->held[block->owner].block = NULL;
        sram_give_back(&e->sram, block);
    }
}

static bool encode_composite(struct encoder *e, const struct node *call, int index)
{
    e->call = call;
    e->composite = call->callee;
    function_number(e->composite);
    e->inner = arena_array(e->arena, struct sram_block *, e->composite->n_values);
    if (!load_operands(e))
        return false;
    for (const struct node *n = e->composite->first; n; n = n->next)
        if (!encode_node(e, n) || e->why)
            return false;
    finish(e, index);
    return true;
}

static void find_readers(struct encoder *e)
{
    const struct function *fn = e->view->fn;
    int index = 0;

    for (int i = 0; i < fn->n_params; i++) {
        e->root[fn->params[i]->id] = fn->params[i];
        e->held[fn->params[i]->id].stored = true;
    }
    for (const struct node *n = fn->first; n; n = n->next) {
        for (int i = 0; i < n->n_outputs; i++)
            e->root[n->outputs[i]->id] =
                n->op == OP_CALL ? n->outputs[i] : e->root[n->inputs[0]->id];
        if (n->op != OP_CALL)
            continue;
        for (int i = 0; i < n->n_inputs; i++)
            e->held[e->root[n->inputs[i]->id]->id].last = index;
        index++;
    }
    for (int i = 0; i < fn->ret->n_inputs; i++)
        e->held[e->root[fn->ret->inputs[i]->id]->id].is_result = true;
}

/* CRC-32 as in zip. */
static uint32_t crc32_of(const uint8_t *bytes, size_t n, uint32_t crc)
{
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xEDB88320U & (0U - (crc & 1U)));
    }
    return crc;
}

static void put_together(struct encoder *e, struct lowering *lowering)
{
    const struct function *fn = e->view->fn;
    struct bytes stream = { NULL, 0, 0 };
    uint32_t crc;

    encoder_command(e, SIM_NPU_END, 0, NULL);
    crc = crc32_of(e->commands.at, e->commands.n, 0xFFFFFFFFU);
    crc = ~crc32_of(e->constants.at, e->constants.n, crc);
    append_word(e, &stream, SIM_NPU_MAGIC);
    append_word(e, &stream, SIM_NPU_VERSION);
    append_word(e, &stream, (uint32_t)fn->n_params);
    append_word(e, &stream, (uint32_t)fn->ret->n_inputs);
    append_word(e, &stream, (uint32_t)(e->commands.n / 4));
    append_word(e, &stream, (uint32_t)e->constants.n);
    append_word(e, &stream, e->sram.peak);
    append_word(e, &stream, e->scratch_bytes);
    append_word(e, &stream, crc);
    append(e, &stream, e->commands.at, e->commands.n);
    append(e, &stream, e->constants.at, e->constants.n);
    lowering->stream = stream.at;
    lowering->stream_bytes = stream.n;
    lowering->value_bytes = e->scratch_bytes;
}

static bool assemble(const struct target *target, const struct region_view *view,
                     struct lowering *lowering)
{
    struct encoder e = { .ctx = lowering->ctx,
                         .arena = lowering->arena,
                         .view = view,
                         .sram = { .arena = lowering->arena } };
    int index = 0;

    (void)target;
    e.held = arena_array(e.arena, struct held, view->fn->n_values);
    e.root = arena_array(e.arena, const struct value *, view->fn->n_values);
    find_readers(&e);
    for (const struct node *n = view->fn->first; n; n = n->next)
        if (n->op == OP_CALL && !encode_composite(&e, n, index++))
            return diag_error(e.ctx, DIAG_OFFLOAD, node_origin(n), "sim_npu: %s: %s",
                              n->callee->composite, e.why ? e.why : "cannot be encoded");
    put_together(&e, lowering);
    return true;
}

const struct target_hooks sim_npu_hooks;
const struct target_hooks sim_npu_hooks = { .target = "sim_npu", .assemble = assemble };
