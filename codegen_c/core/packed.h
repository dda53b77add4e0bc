/* packed.h - constants in the layouts of kernels, made once for all plans that are tried: a trial
 * configures regions again, but most of them want the same weights in the same order. */
#ifndef CODEGEN_C_CORE_PACKED_H
#define CODEGEN_C_CORE_PACKED_H

#include "base/arena.h"
#include "base/map.h"
#include "relay_ir/ir.h"

struct bind;

/* What is kept; until codegen_free. */
struct packed {
    struct arena arena;
    struct map by_key;
    struct bulk memory;
};

/* Memory of this type for the constant packed as `how` says ("panels 1 64 576 ..."): all that the
 * packed form depends on besides the constant. *made: it was filled before, and must not be
 * written. Otherwise it is zeroed, and the caller fills it, at once and finally. A value that is no
 * constant of the region's function, such as a converted copy, gets memory of its own each time. */
void *packed_memory(struct bind *bind, const struct value *constant, const struct type *type,
                    const char *how, bool *made);

/* Of a constant's payload, for `how`. */
uint32_t packed_checksum(const struct value *constant);

void packed_release(struct packed *packed);

#endif
