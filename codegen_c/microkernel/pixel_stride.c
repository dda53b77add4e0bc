/* pixel_stride.c - see pixel_stride.h. */
#include "codegen_c/microkernel/pixel_stride.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"

/* --- for kernel records ----------------------------------------------------------------------- */

bool reads_pixels(const struct region *region, int input)
{
    (void)region;
    return input == 0;
}

bool reads_side_by_side(const struct region *region, int input)
{
    (void)region;
    (void)input;
    return false;
}

bool writes_pixels(const struct region *region)
{
    (void)region;
    return true;
}

bool writes_side_by_side(const struct region *region)
{
    (void)region;
    return false;
}

bool reads_conv_pixels(const struct region *region, int input)
{
    return input == 0 && window_of_conv(region).channels_last;
}

bool writes_conv_pixels(const struct region *region)
{
    return window_of_conv(region).out_channels_last;
}

/* --- for bind --------------------------------------------------------------------------------- */

bool pixels_are_apart(const struct region *region)
{
    for (int i = 0; i < region->fn->n_params; i++)
        if (operand_of(region, region->fn->params[i]).apart)
            return true;
    return operand_result(region, 0).apart;
}

void bind_pixel_strides(struct bind *bind)
{
    bind_pixel_strides_of(bind, bind->region->anchor && operand_input(bind->region, 0).apart);
}

void bind_pixel_strides_of(struct bind *bind, bool of_x)
{
    const struct region *region = bind->region;
    const struct operand y = operand_result(region, 0);
    const int64_t in = of_x ? operand_input(region, 0).pixel_step : 0;
    const int64_t out = y.apart ? y.pixel_step : 0;
    struct str text = { .arena = bind->arena };

    if (in)
        str_printf(&text, "IN_PIXEL_STRIDE = %" PRId64 ", ", in);
    if (out)
        str_printf(&text, "OUT_PIXEL_STRIDE = %" PRId64 ", ", out);
    if (text.n)
        str_printf(&text, "/* pixel stride of %s%s */",
                   in && out ? "x, and of y"
                   : in      ? "x"
                             : "y",
                   pixels_are_apart(region) ? ", a sub-buffer" : "");
    bind_text(bind, "pixel_strides", "%s", str_text(&text));
}

const char *pixel_stride_of_x(const struct region *region, const char *channels)
{
    return operand_input(region, 0).apart ? "IN_PIXEL_STRIDE" : channels;
}

const char *pixel_stride_of_y(const struct region *region, const char *channels)
{
    return operand_result(region, 0).apart ? "OUT_PIXEL_STRIDE" : channels;
}

void bind_at(struct bind *bind, const char *pixel, const char *channels, const char *channel,
             struct position *position)
{
    const bool apart = operand_result(bind->region, 0).apart;

    bind_text(bind, "at", "%s * %s + %s", pixel, pixel_stride_of_y(bind->region, channels),
              channel);
    position_by_division(
        bind, apart ? arena_printf(bind->arena, "(%s * %s + %s)", pixel, channels, channel) : "at",
        position);
    position->pixel = pixel;
    position->channel = channel;
}

void bind_at_index(struct bind *bind, const char *index, struct position *position)
{
    bind_text(bind, "at", "%s", index);
    position_by_division(bind, "at", position);
}

void bind_start(struct bind *bind, const char *channels, const char *first,
                const struct position *position, struct position *start)
{
    const bool apart = operand_result(bind->region, 0).apart;

    *start = *position;
    start->channel = first;
    if (strcmp(position->coord[position->rank - 1], "0") != 0)
        start->coord[position->rank - 1] = first;
    start->linear =
        apart ? arena_printf(bind->arena, "(%s * %s + %s)", position->pixel, channels, first)
              : "start";
    bind_text(bind, "start", "%s * %s + %s", position->pixel,
              pixel_stride_of_y(bind->region, channels), first);
}
