/* epilogue_text.c - the statements that end a tile, of an epilogue store (epilogue_store.h). */
#include <ctype.h>
#include <string.h>

#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/epilogue_store.h"

/* A variable's name, which may be pasted. */
static bool is_word(const char *text)
{
    return !text[strcspn(text, " *&[(")];
}

/* The text with `word` for each EPILOGUE_SUM. */
static const char *with_first(struct arena *arena, const char *text, const char *word)
{
    const size_t n = strlen(EPILOGUE_SUM);
    struct str out = { .arena = arena };

    for (const char *at; (at = strstr(text, EPILOGUE_SUM)); text = at + n) {
        const char before = at == text ? ' ' : at[-1], behind = at[n];
        const bool part = before == '_' || isalnum((unsigned char)before) || behind == '_' ||
                          isalnum((unsigned char)behind);

        str_addn(&out, text, (size_t)(at - text));
        str_add(&out, part ? EPILOGUE_SUM : word);
    }
    str_add(&out, text);
    return str_text(&out);
}

static const char *store_text(struct bind *bind, const struct epilogue_store *end,
                              const char *result, const char *y, bool some, bool in_order)
{
    const char *fn = end->quantized ? some ? "store_some_bytes" : "store_bytes"
                     : some         ? "store_some"
                                    : NULL;
    const char *rest = some ? arena_printf(bind->arena, ", n_channels - v * %s", end->lanes) : "";

    if (some)
        bind_bytes_helper(bind, fn);
    if (!fn && !in_order)
        return arena_printf(bind->arena, "*(%s *)&%s = %s;", end->vector, y, result);
    if (!fn)
        return arena_printf(bind->arena, "%s(&%s, %s);",
                            bind_vector_fn(bind, "store_here", end->vector), y, result);
    if (in_order)
        bind_helper(bind, "keep_order");
    return arena_printf(bind->arena, "%s(&%s, %s%s);%s", fn, y, result, rest,
                        in_order ? " KEEP_ORDER" : "");
}

const char *epilogue_store_set(struct bind *bind, const struct epilogue_store *end, const char *sum)
{
    const char *nodes = with_first(bind->arena, end->nodes, sum);

    if (strcmp(end->result, EPILOGUE_SUM) == 0)
        return "";
    return arena_printf(bind->arena, *nodes ? "{ %s%s = %s; }" : "%s%s = %s;", nodes, sum,
                        with_first(bind->arena, end->result, sum));
}

const char *epilogue_store_text(struct bind *bind, const struct epilogue_store *end,
                                const char *first, const char *y, bool some, bool in_order)
{
    struct arena *arena = bind->arena;
    const char *word = is_word(first) ? first : EPILOGUE_SUM, *begin = "";
    const char *nodes = with_first(arena, end->nodes, word);
    const char *store =
        store_text(bind, end, with_first(arena, end->result, word), y, some, in_order);

    if (word != first)
        begin = arena_printf(arena, "const %s %s = %s; ", end->vector, EPILOGUE_SUM, first);
    return *begin || *nodes ? arena_printf(arena, "{ %s%s%s }", begin, nodes, store) : store;
}

void epilogue_store_keys(struct bind *bind, const struct epilogue_store *end, const char *first,
                         bool some, bool in_order, struct keys *keys)
{
    keys_offer(keys, "stores", end ? "1" : "");
    keys_set_flag(keys, "channels", end && *end->channel);
    keys_set_flag(keys, "whole", !some);
    keys_offer(keys, "ty", end && end->quantized ? "uint8_t" : "float");
    keys_offer(keys, "end_params", end ? end->params : "");
    keys_offer(keys, "end_channel", end ? end->channel : "");
    keys_offer(keys, "end_shared", end ? end->shared : "");
    keys_offer(
        keys, "end",
        end ? epilogue_store_text(bind, end, first, "y[j * step + v * LANES]", some, in_order)
            : "");
}
