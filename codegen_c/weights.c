/* weights.c - the constant arrays of the generated code, each content once. */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "codegen_c/emit.h"

/* Arrays up to this many elements are written as numbers that people can read. Beyond, the time and
 * memory of a C compiler count: it is 64-bit words then (they grow with the number of
 * initialisers). */
enum { READABLE_ELEMENTS = 64 };

static uint32_t checksum(const void *data, size_t n)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, n);
}

static void find_range(struct weight *weight)
{
    const int64_t n = type_elements(&weight->type);

    weight->least = NAN;
    weight->greatest = NAN;
    for (int64_t i = 0; i < n; i++) {
        const double number = dtype_load(weight->type.dtype, weight->data, i);

        if (!(number >= weight->least))
            weight->least = isnan(number) ? weight->least : number;
        if (!(number <= weight->greatest))
            weight->greatest = isnan(number) ? weight->greatest : number;
    }
}

static struct weight *weight_new(struct codegen *codegen, const char *name, const struct type *type,
                                 const void *data, const char *layout, bool words)
{
    struct weights *weights = &codegen->weights;
    struct weight *weight = arena_new(&codegen->arena, struct weight);
    const char *wanted = arena_printf(&codegen->arena, "%s_%s", codegen->options->name,
                                      c_identifier(&codegen->arena, name));

    weight->c_name = names_unique(&codegen->names, wanted);
    weight->words = words || type_elements(type) > READABLE_ELEMENTS;
    weight->expression =
        weight->words ? arena_printf(&codegen->arena, "%s.v", weight->c_name) : weight->c_name;
    weight->name = name;
    weight->type = *type;
    weight->data = data;
    weight->layout = layout;
    find_range(weight);
    if (weights->last)
        weights->last->next = weight;
    else
        weights->first = weight;
    weights->last = weight;
    weights->n++;
    weights->bytes += type_bytes(type);
    return weight;
}

static struct weight *add(struct codegen *codegen, const char *name, const struct type *type,
                          const void *data, const char *layout, bool words)
{
    const size_t bytes = type_bytes(type);
    const uint32_t crc = checksum(data, bytes);
    struct weight *weight;
    const char *key;

    /* Different contents of the same checksum get keys of their own. */
    for (int i = 0;; i++) {
        key = arena_printf(&codegen->arena, "%s %zu %08x %d%s", dtype_name(type->dtype), bytes,
                           (unsigned)crc, i, words ? " words" : "");
        weight = map_get(&codegen->weights.by_content, key);
        if (!weight)
            break;
        if (bytes == 0 || memcmp(weight->data, data, bytes) == 0)
            return weight;
    }
    weight = weight_new(codegen, name, type, data, layout, words);
    weight->crc32 = crc;
    map_set(&codegen->weights.by_content, key, weight);
    return weight;
}

struct weight *weights_read(struct codegen *codegen, int reader, const struct region *region,
                            const char *name, const struct type *type, const void *data,
                            const char *layout)
{
    const int n = codegen->weights.n;
    struct weight *weight = add(codegen, name, type, data, layout, false);

    weight->readers |= (uint64_t)1 << reader;
    if (region && codegen->weights.n > n) {
        weight->region = region->index;
        codegen->emitted[region->index].weight_bytes += type_bytes(type);
    }
    return weight;
}

struct weight *weights_stream(struct codegen *codegen, int reader, const char *name,
                              const struct type *type, const void *data)
{
    struct weight *weight = add(codegen, name, type, data, "", true);

    weight->readers |= (uint64_t)1 << reader;
    return weight;
}

bool weights_are_read(const struct codegen *codegen, int reader)
{
    const struct weight *w = codegen->weights.first;

    while (w && !(w->readers >> reader & 1))
        w = w->next;
    return w != NULL;
}
