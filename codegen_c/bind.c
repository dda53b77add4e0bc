/* bind.c - what bind functions say about their region: keys, operands, scratch, helpers. */
#include <assert.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/emit.h"

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

static const char *constant_array(struct bind *bind, const char *name, const struct type *type,
                                  const void *data, const char *layout)
{
    return weights_read(bind->codegen, 0, bind->region, name, type, data, layout)->expression;
}

const char *bind_operand(struct bind *bind, struct value *value)
{
    if (value->kind == VALUE_CONSTANT)
        return constant_array(bind, value->name, &value->type, value->data, "");
    assert(value->kind == VALUE_PARAM && value->fn == bind->region->fn);
    return bind->region->params[value->index];
}

const char *bind_packed(struct bind *bind, struct value *value, const struct type *type,
                        const void *packed, const char *layout)
{
    return constant_array(bind, value->name, type, packed, layout);
}

void bind_scratch(struct bind *bind, size_t bytes)
{
    bind->region->scratch_bytes = bytes;
}

void bind_include(struct bind *bind, const char *header)
{
    char *name = arena_strdup(&bind->codegen->arena, header);

    map_set(&bind->codegen->includes, name, name);
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

    if (map_get(&codegen->helpers, name))
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
    map_set(&codegen->helpers, arena_strdup(&codegen->arena, name), (void *)file);
}
