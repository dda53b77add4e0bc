/* weights.c - the constant arrays of the generated code, each content once. */
#include "codegen_c/core/weights.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#include "codegen_c/core/state.h"
#include "codegen_c/core/traffic.h"

/* Numbers are what people can read, and no byte order is in them. A C compiler's time and memory grow with the number
 * of initialisers: gcc takes 1.5 s for 1 MB of i8. Larger networks have arrays of up to READABLE_ELEMENTS as numbers,
 * others as 64-bit words. */
enum { READABLE_BYTES = 1 << 20, READABLE_ELEMENTS = 64 };

bool weights_are_readable(const struct module *module)
{
    size_t bytes = 0;

    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct value *value = fn->constants; value; value = value->next)
            bytes += type_bytes(&value->type);
    return bytes <= READABLE_BYTES;
}

/* NAN has no sign and no other bits. Halves have no literal, nor numbers of more than 8 bits that are packed, but for
 * packed halves, which are the bits. */
static bool has_literals(const struct weight *weight)
{
    if (dtype_is_half(weight->stored.dtype))
        return false;
    if (weight->packed && type_packed_bits(&weight->type) > 8)
        return dtype_is_half(weight->type.dtype);
    for (int64_t i = 0; i < type_elements(&weight->stored) && dtype_is_float(weight->stored.dtype); i++)
        if (isnan(dtype_load(weight->stored.dtype, weight->data, i)))
            return false;
    return true;
}

static uint32_t checksum(const void *data, size_t n)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, n);
}

/* Code i of a packed array, as an element in memory. */
static uint16_t packed_code(const struct type *type, const uint8_t *data, int64_t i)
{
    const int64_t bits = type_packed_bits(type), at = i * bits;
    const uint32_t sign = 1u << (bits - 1);
    uint32_t code = data[at / 8];

    if (at % 8 + bits > 8)
        code |= (uint32_t)data[at / 8 + 1] << 8;
    code = code >> at % 8 & ((1u << bits) - 1);
    return (uint16_t)(dtype_is_signed(type->dtype) ? (code ^ sign) - sign : code);
}

static double number_at(const struct weight *weight, int64_t i)
{
    uint16_t code;
    struct tensor tensor = { type_scalar(weight->type.dtype), &code };

    if (!weight->packed)
        return tensor_at(&(struct tensor){ weight->type, (void *)(uintptr_t)weight->data }, i);
    code = packed_code(&weight->type, weight->data, i);
    tensor.type.quant = weight->type.quant;
    return tensor_at(&tensor, 0);
}

/* The sums are taken around the first finite number, so that they do not cancel. */
static void find_statistics(struct weight *weight)
{
    const int64_t n = type_elements(&weight->type);
    double first = 0, sum = 0, squares = 0;
    int64_t n_finite = 0;

    weight->least = NAN;
    weight->greatest = NAN;
    for (int64_t i = 0; i < n; i++) {
        const double number = number_at(weight, i);

        if (isfinite(number)) {
            first = n_finite++ ? first : number;
            sum += number - first;
            squares += (number - first) * (number - first);
        }
        if (!(number >= weight->least))
            weight->least = isnan(number) ? weight->least : number;
        if (!(number <= weight->greatest))
            weight->greatest = isnan(number) ? weight->greatest : number;
    }
    sum /= (double)n_finite; /* NaN where there are none */
    weight->mean = first + sum;
    weight->deviation =
        n_finite ? sqrt(fmax(0, squares / (double)n_finite - sum * sum)) : (double)NAN;
}

/* What is to become an array. */
struct content {
    const char *name;
    const struct type *type;
    const void *data;
    const char *layout;
    bool words, packed;
    bool own; /* shared with none of another name */
};

static struct type stored_type(const struct content *content)
{
    const bool wide = content->packed && type_packed_bits(content->type) > 8;
    const int64_t n = (int64_t)type_packed_bytes(content->type) / (wide ? 2 : 1);

    return content->packed ? type_make(wide ? DTYPE_U16 : DTYPE_U8, 1, &n) : *content->type;
}

static struct weight *weight_new(struct codegen *codegen, const struct content *content)
{
    struct weights *weights = &codegen->weights;
    struct weight *weight = arena_new(&codegen->arena, struct weight);
    const char *wanted = arena_printf(&codegen->arena, "%s_%s", codegen->options->name,
                                      c_identifier(&codegen->arena, content->name));

    weight->c_name = names_unique(&codegen->names, wanted);
    weight->stored = stored_type(content);
    weight->packed = content->packed;
    weight->own = content->own;
    weight->name = content->name;
    weight->type = *content->type;
    weight->data = content->data;
    weight->layout = content->layout;
    weight->words = content->words || (type_elements(&weight->stored) > READABLE_ELEMENTS &&
                                       !(codegen->readable && has_literals(weight)));
    weight->expression =
        weight->words ? arena_printf(&codegen->arena, "%s.v", weight->c_name) : weight->c_name;
    if (weights->last)
        weights->last->next = weight;
    else
        weights->first = weight;
    weights->last = weight;
    weights->n++;
    weights->bytes += type_bytes(&weight->stored);
    return weight;
}

/* A region that is configured again makes its tables again, with a number behind the name. */
static const char *own_key(struct arena *arena, const char *name)
{
    size_t n = strlen(name);

    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    if (n == strlen(name) || n == 0 || name[n - 1] != '_')
        n = strlen(name) + 1;
    return arena_printf(arena, " %.*s", (int)n - 1, name);
}

/* With --vary: the array that begins with this content, such as a table of positions of which a smaller size reads
 * fewer; NULL if there is none of this name. */
static struct weight *find_longer(struct codegen *codegen, const struct content *content,
                                  size_t bytes)
{
    struct weight *w = codegen->weights.first;

    if (!codegen->module->variants || content->words || content->packed || content->own ||
        *content->layout)
        return NULL;
    while (w && (w->packed || w->own || *w->layout || strcmp(w->name, content->name) != 0 ||
                 strcmp(type_format(&w->type), type_format(content->type)) != 0 ||
                 type_bytes(&w->stored) < bytes || memcmp(w->data, content->data, bytes) != 0))
        w = w->next;
    return w;
}

static struct weight *add(struct codegen *codegen, const struct content *content)
{
    const struct type stored = stored_type(content);
    const size_t bytes = type_bytes(&stored);
    const uint32_t crc = checksum(content->data, bytes);
    struct weight *weight;
    const char *key;

    /* Different contents of the same checksum get keys of their own. */
    for (int i = 0;; i++) {
        key = arena_printf(&codegen->arena, "%s %zu %08x %d%s%s%s", type_format(content->type),
                           bytes, (unsigned)crc, i, content->words ? " words" : "",
                           content->packed ? " packed" : "",
                           content->own ? own_key(&codegen->arena, content->name) : "");
        weight = map_get(&codegen->weights.by_content, key);
        if (!weight)
            break;
        if (bytes == 0 || memcmp(weight->data, content->data, bytes) == 0)
            return weight;
    }
    weight = find_longer(codegen, content, bytes);
    if (weight)
        return weight;
    weight = weight_new(codegen, content);
    weight->crc32 = crc;
    map_set(&codegen->weights.by_content, key, weight);
    return weight;
}

/* A region may be written more than once. */
static void note_region(struct codegen *codegen, struct weight *weight, const struct region *region)
{
    struct weight_reader *reader = weight->used_by;

    while (reader && reader->fn != region->fn)
        reader = reader->next;
    if (reader)
        return;
    reader = arena_new(&codegen->arena, struct weight_reader);
    *reader = (struct weight_reader){ region->fn, region->index, weight->used_by };
    weight->used_by = reader;
    if (pools_take_constants(codegen))
        weight->traffic += traffic_of_constant(region, &weight->type, type_bytes(&weight->stored));
}

static struct weight *read_content(struct codegen *codegen, int reader, const struct region *region,
                                   const struct content *content)
{
    const int n = codegen->weights.n;
    struct weight *weight = add(codegen, content);

    weight->readers |= (uint64_t)1 << reader;
    if (region)
        note_region(codegen, weight, region);
    if (region && codegen->weights.n > n) {
        weight->region = region->index;
        codegen->emitted[region->index].weight_bytes += type_bytes(&weight->stored);
    }
    return weight;
}

struct weight *weights_read(struct codegen *codegen, int reader, const struct region *region,
                            const char *name, const struct type *type, const void *data,
                            const char *layout)
{
    return read_content(
        codegen, reader, region,
        &(struct content){ .name = name, .type = type, .data = data, .layout = layout });
}

struct weight *weights_read_own(struct codegen *codegen, int reader, const struct region *region,
                                const char *name, const struct type *type, const void *data,
                                const char *layout)
{
    return read_content(
        codegen, reader, region,
        &(struct content){
            .name = name, .type = type, .data = data, .layout = layout, .own = true });
}

struct weight *weights_read_packed(struct codegen *codegen, int reader, const struct region *region,
                                   const char *name, const struct type *type, const void *data,
                                   const char *layout)
{
    return read_content(
        codegen, reader, region,
        &(struct content){
            .name = name, .type = type, .data = data, .layout = layout, .packed = true });
}

struct weight *weights_stream(struct codegen *codegen, int reader, const char *name,
                              const struct type *type, const void *data)
{
    struct weight *weight = add(
        codegen,
        &(struct content){ .name = name, .type = type, .data = data, .layout = "", .words = true });

    weight->readers |= (uint64_t)1 << reader;
    return weight;
}

void weights_find_statistics(struct codegen *codegen)
{
    for (struct weight *w = codegen->weights.first; w; w = w->next)
        find_statistics(w);
}

/* --- in pools --------------------------------------------------------------------------------- */

bool pools_take_constants(const struct codegen *codegen)
{
    bool take = false;

    for (int p = 0; p < codegen->options->n_pools; p++)
        take = take || codegen->options->pools[p].takes != POOL_OF_ARENA;
    return take;
}

void offer_constants(struct codegen *codegen)
{
    struct plan *plan = &codegen->plan;

    if (!pools_take_constants(codegen))
        return;
    plan->constants = arena_array(&codegen->arena, struct plan_constant, codegen->weights.n);
    for (const struct weight *w = codegen->weights.first; w; w = w->next)
        plan->constants[plan->n_constants++] =
            (struct plan_constant){ type_bytes(&w->stored), w->traffic, -1 };
}

void settle_constants(struct codegen *codegen)
{
    const struct plan *plan = &codegen->plan;
    struct weight *weight = codegen->weights.first;

    for (int i = 0; i < plan->n_constants; i++, weight = weight->next)
        if (plan->constants[i].pool >= 0 && plan->pools[plan->constants[i].pool].of->section)
            weight->pool = plan->pools[plan->constants[i].pool].of;
}

bool weights_are_read(const struct codegen *codegen, int reader)
{
    const struct weight *w = codegen->weights.first;

    while (w && !(w->readers >> reader & 1))
        w = w->next;
    return w != NULL;
}

bool weight_is_large(const struct weight *weight)
{
    return type_elements(&weight->stored) > READABLE_ELEMENTS;
}
