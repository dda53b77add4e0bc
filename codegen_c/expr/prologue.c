/* prologue.c - reads of the anchor's inputs: as they are stored, or dequantised
 * (relay_ir/region.h). */
#include <string.h>

#include "codegen_c/core/state.h"
#include "codegen_c/expr/epilogue.h"
#include "codegen_c/expr/scalar.h"

struct value *anchor_source(const struct region *region, int i)
{
    const struct node *decoder = anchor_decoder(region->anchor, i);

    return decoder ? decoder->inputs[0] : region->anchor->inputs[i];
}

/* The decoder's text before and behind the element that it reads. */
static void decoder_text(struct bind *bind, const struct node *decoder, const char **get,
                         const char **got)
{
    static const char element[] = "\1";
    const char *operands[SCALAR_OPERANDS] = { element }, *needs, *text, *middle;

    for (int i = 1; i < decoder->n_inputs; i++)
        if (decoder->inputs[i]->kind == VALUE_CONSTANT) {
            const struct tensor tensor = value_tensor(decoder->inputs[i]);

            operands[i] = qnn_number(bind, decoder, i,
                                     bind_literal(bind, tensor.type.dtype, tensor_at(&tensor, 0)));
        }
    text = scalar_text(bind->arena, decoder, &needs);
    scalar_needs(bind, decoder, needs);
    text = scalar_expand(bind, decoder, text, operands);
    middle = strstr(text, element);
    *get = arena_strndup(bind->arena, text, (size_t)(middle - text));
    *got = middle + strlen(element);
}

void bind_reads(struct bind *bind, int i, const char **get, const char **got)
{
    const struct node *decoder = anchor_decoder(bind->region->anchor, i);

    *get = *got = "";
    if (decoder)
        decoder_text(bind, decoder, get, got);
}
