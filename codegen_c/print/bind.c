/* bind.c - what bind functions say about their region: keys, operands, scratch, helpers. */
#include <assert.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/core/state.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/expr/codec.h"
#include "codegen_c/print/share.h"
#include "codegen_c/text/literal.h"

void bind_int(struct bind *bind, const char *key, int64_t value)
{
    keys_set_int(bind->keys, key, value);
}

void bind_flag(struct bind *bind, const char *key, bool on)
{
    keys_set_flag(bind->keys, key, on);
}

void bind_text(struct bind *bind, const char *key, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keys_set(bind->keys, key, arena_vprintf(bind->arena, format, args));
    va_end(args);
}

const char *bind_literal(struct bind *bind, enum dtype dtype, double number)
{
    bool needs_math = false;
    const char *text = literal_of_number(bind->arena, dtype, number, &needs_math);

    if (needs_math)
        bind_include(bind, "math.h");
    return text;
}

static const char *expression_of(struct bind *bind, const struct weight *weight)
{
    return bind->codegen->emitted[bind->region->index].takes_arrays
               ? array_name(bind->codegen, bind->region, weight)
               : weight->expression;
}

static const char *constant_array(struct bind *bind, const char *name, const struct type *type,
                                  const void *data, const char *layout)
{
    return expression_of(bind,
                         weights_read(bind->codegen, 0, bind->region, name, type, data, layout));
}

const char *bind_operand(struct bind *bind, struct value *value)
{
    if (value->kind == VALUE_CONSTANT)
        return constant_array(bind, value->name, &value->type, value->data, "");
    assert(value->kind == VALUE_PARAM && value->fn == bind->region->fn);
    return bind->region->params[value->index];
}

const char *bind_own_array(struct bind *bind, const char *name, const struct type *type,
                           const void *data, const char *layout)
{
    return expression_of(
        bind, weights_read_own(bind->codegen, 0, bind->region, name, type, data, layout));
}

const char *bind_own_operand(struct bind *bind, const struct value *constant)
{
    return bind_own_array(bind, constant->name, &constant->type, constant->data, "");
}

const char *bind_packed(struct bind *bind, struct value *value, const struct type *type,
                        const void *packed, const char *layout)
{
    return constant_array(bind, value->name, type, packed, layout);
}

/* quantized[i] lies at bit i * bits of the result; little-endian. */
static uint8_t *pack_quantized(struct arena *arena, const struct type *type,
                               const uint8_t *quantized)
{
    const int64_t bits = type_packed_bits(type), n = type_elements(type);
    uint8_t *packed = arena_alloc(arena, type_packed_bytes(type));

    for (int64_t i = 0; i < n; i++) {
        const int64_t at = i * bits;
        const uint32_t code = (quantized[i] & ((1u << bits) - 1)) << at % 8;

        packed[at / 8] = (uint8_t)(packed[at / 8] | code);
        if (at % 8 + bits > 8)
            packed[at / 8 + 1] = (uint8_t)(code >> 8);
    }
    return packed;
}

const char *bind_quantized(struct bind *bind, const char *name, const struct type *type,
                           const void *quantized, const char *layout)
{
    const int bits = type_packed_bits(type);
    struct codegen *codegen = bind->codegen;

    if (bits == 8 || type->dtype == DTYPE_F32)
        return constant_array(bind, name, type, quantized, layout);
    if (bits < 8) {
        layout = arena_printf(bind->arena, "%s%s%d bits each", layout, *layout ? ", " : "", bits);
        quantized = pack_quantized(bind->arena, type, quantized);
    }
    return expression_of(
        bind, weights_read_packed(codegen, 0, bind->region, name, type, quantized, layout));
}

void bind_scratch(struct bind *bind, size_t bytes)
{
    bind->region->config.scratch_bytes = bytes;
}

void bind_include(struct bind *bind, const char *header)
{
    char *name = arena_strdup(&bind->codegen->arena, header);

    map_set(&bind->codegen->includes, name, name);
}

void bind_include_if(struct bind *bind, const char *header, const char *condition)
{
    struct codegen *codegen = bind->codegen;

    map_set(&codegen->includes_if, arena_strdup(&codegen->arena, header),
            arena_strdup(&codegen->arena, condition));
}

static const struct embedded_file *find_helper(struct codegen *codegen, const char *name)
{
    return embedded_find(arena_printf(&codegen->arena, "runtime/embed/%s.h", name));
}

/* The file named by an #include line, "" for another line; *own: it is one of runtime/embed. */
static const char *included_file(struct arena *arena, const char *line, bool *own)
{
    static const char quoted[] = "#include \"runtime/embed/", system[] = "#include <";

    *own = str_starts(line, quoted);
    if (*own)
        return arena_strndup(arena, line + sizeof quoted - 1,
                             strcspn(line + sizeof quoted - 1, ".\n"));
    if (str_starts(line, system))
        return arena_strndup(arena, line + sizeof system - 1,
                             strcspn(line + sizeof system - 1, ">\n"));
    return "";
}

void bind_helper(struct bind *bind, const char *name)
{
    struct codegen *codegen = bind->codegen;
    const struct embedded_file *file = find_helper(codegen, name);
    struct helper *helper;

    if (map_get(&codegen->helpers, name))
        return;
    if (!file && codec_bind(bind, name))
        return;
    if (!file) {
        diag_error(bind->ctx, DIAG_TEMPLATE, NULL, "there is no runtime/embed/%s.h", name);
        return;
    }
    for (const char *line = file->text; *line;) {
        const char *end = strchr(line, '\n');
        bool own;
        const char *included = included_file(&codegen->arena, line, &own);

        if (*included && own)
            bind_helper(bind, included);
        else if (*included)
            bind_include(bind, included);
        line = end ? end + 1 : line + strlen(line);
    }
    helper = arena_new(&codegen->arena, struct helper);
    *helper = (struct helper){ .from = file->path, .text = file->text };
    map_set(&codegen->helpers, arena_strdup(&codegen->arena, name), helper);
}

bool sums_are_fused(const struct bind *bind)
{
    return bind->codegen->fused;
}

bool bits_are_promised(const struct bind *bind)
{
    return bind->codegen->options->deterministic;
}

bool functions_are_shared(const struct bind *bind)
{
    return bind->codegen->options->share && bind->machine->lanes == 1;
}

const struct region *bind_region_at(const struct bind *bind, int i)
{
    return i < bind->codegen->n_regions ? &bind->codegen->regions[i] : NULL;
}

const char *bind_own_helper(struct bind *bind, const char *name)
{
    const struct helper *helper = map_get(&bind->codegen->helpers, name);

    return helper ? helper->function : NULL;
}

const char *bind_new_helper(struct bind *bind, const char *name, const char *path,
                            struct keys *keys)
{
    struct codegen *codegen = bind->codegen;
    const struct embedded_file *template = embedded_find(path);
    struct helper *helper = arena_new(&codegen->arena, struct helper);

    assert(template);
    *helper = (struct helper){ .from = path,
                               .own = true,
                               .function = names_unique(&codegen->names, name),
                               .template = template->text };
    keys_offer(keys, "fn", helper->function);
    keys_offer(keys, "fused", codegen->fused ? "1" : "");
    helper->keys = *keys;
    map_set(&codegen->helpers, arena_strdup(&codegen->arena, name), helper);
    return helper->function;
}
