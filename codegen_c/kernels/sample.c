/* sample.c - reading x between its elements, at places that another input gives: image.grid_sample
 * and vision.roi_align. */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/kernels/anchor.h"
#include "relay_ir/ops/spatial.h"

bool accepts_grid_sample(const struct region *region, const char **why)
{
    const enum dtype grid = anchor_input(region, 1)->dtype;

    if (!takes_float(region, why))
        return false;
    if (grid == DTYPE_F32 || grid == DTYPE_F64)
        return true;
    *why = "the grid is neither f32 nor f64";
    return false;
}

bool accepts_roi_align(const struct region *region, const char **why)
{
    return takes_float(region, why);
}

/* For one combination of taps, k0 of the first spatial dimension and so on. */
static void bind_combination(struct bind *bind, const struct type *x)
{
    struct str dims = { .arena = bind->arena }, extents = { .arena = bind->arena };
    struct str is_inside = { .arena = bind->arena }, share = { .arena = bind->arena };
    const char *coord[MAX_RANK], *extent[MAX_RANK];
    const int rank = x->rank - 2;

    for (int d = 0; d < rank; d++) {
        extent[d] = arena_printf(bind->arena, "D%d", d);
        coord[d] = arena_printf(bind->arena, "tap[%d][k%d]", d, d);
        str_printf(&dims, "%sD%d = %" PRId64, d ? ", " : "", d, x->dim[2 + d]);
        str_printf(&extents, "%sD%d", d ? ", " : "", d);
        str_printf(&is_inside, "%s%s >= 0", d ? " && " : "", coord[d]);
        str_printf(&share, "%sweight[%d][k%d]", d ? " * " : "", d, d);
    }
    bind_text(bind, "dims", "%s", str_text(&dims));
    bind_text(bind, "extents", "%s", str_text(&extents));
    bind_text(bind, "is_inside", "%s", str_text(&is_inside));
    bind_text(bind, "share", "%s", str_text(&share));
    bind_text(bind, "from", "%s", row_major(bind, rank, coord, extent));
}

/* How many elements a place is made of in a dimension, and the weight of element i. */
static int bind_method(struct bind *bind, const char *method)
{
    const bool nearest = strcmp(method, "nearest_neighbor") == 0;
    const bool cubic = strcmp(method, "cubic") == 0;
    const char *const tx = dtype_c_type(anchor_input(bind->region, 0)->dtype);
    const int taps = nearest ? 1 : cubic ? 4 : 2;

    bind_flag(bind, "nearest", nearest);
    bind_text(bind, "before", cubic ? " - 1" : "");
    if (cubic)
        bind_helper(bind, "cubic_weight");
    if (nearest)
        bind_text(bind, "weight", "1");
    else
        bind_text(bind, "weight",
                  cubic ? "(%s)cubic_weight(place - i)" : "(%s)(1 - fabs(place - i))", tx);
    bind_int(bind, "taps", taps);
    return taps;
}

bool bind_grid_sample(struct bind *bind)
{
    const struct grid_sample_attrs *attrs = &bind->region->anchor->attrs.grid_sample;
    const struct type *x = anchor_input(bind->region, 0), *y = anchor_output(bind->region, 0);
    const bool border = strcmp(attrs->padding_mode, "border") == 0;
    const bool reflection = strcmp(attrs->padding_mode, "reflection") == 0;
    const int taps = bind_method(bind, attrs->method);
    int most = 1;

    for (int d = 2; d < x->rank; d++)
        most *= taps;
    bind_type(bind);
    bind_include(bind, "math.h");
    if (reflection)
        bind_helper(bind, "mirrored");
    bind_input(bind, "x", 0);
    bind_input(bind, "grid", 1);
    bind_text(bind, "tgrid", "%s", dtype_c_type(anchor_input(bind->region, 1)->dtype));
    bind_int(bind, "batch", x->dim[0]);
    bind_int(bind, "channels", x->dim[1]);
    bind_int(bind, "rank", x->rank - 2);
    bind_int(bind, "in_len", type_span(x, 2, x->rank));
    bind_int(bind, "out_len", type_span(y, 2, y->rank));
    bind_int(bind, "most", most);
    bind_flag(bind, "align_corners", attrs->align_corners);
    bind_flag(bind, "zeros", !border && !reflection);
    bind_flag(bind, "border", border);
    bind_flag(bind, "reflection", reflection);
    bind_flag(bind, "bounded", border || reflection);
    bind_combination(bind, x);
    return true;
}

bool bind_roi_align(struct bind *bind)
{
    const struct roi_align_attrs *attrs = &bind->region->anchor->attrs.roi_align;
    const struct type *x = anchor_input(bind->region, 0), *y = anchor_output(bind->region, 0);

    bind_type(bind);
    bind_include(bind, "math.h");
    bind_helper(bind, "index_within");
    bind_helper(bind, "neighbours");
    bind_input(bind, "x", 0);
    bind_input(bind, "rois", 1);
    bind_input(bind, "batch_indices", 2);
    bind_text(bind, "tindex", "%s", dtype_c_type(anchor_input(bind->region, 2)->dtype));
    bind_int(bind, "regions", y->dim[0]);
    bind_int(bind, "batch", x->dim[0]);
    bind_int(bind, "channels", x->dim[1]);
    bind_int(bind, "in_h", x->dim[2]);
    bind_int(bind, "in_w", x->dim[3]);
    bind_int(bind, "out_h", y->dim[2]);
    bind_int(bind, "out_w", y->dim[3]);
    bind_int(bind, "most_samples", ROI_MOST_SAMPLES);
    bind_int(bind, "most_extent", SPATIAL_MOST);
    bind_flag(bind, "aligned", attrs->aligned);
    bind_flag(bind, "max", strcmp(attrs->mode, "max") == 0);
    bind_text(bind, "scale", "%s", bind_literal(bind, DTYPE_F64, attrs->spatial_scale));
    bind_text(bind, "shift", attrs->aligned ? " - 0.5" : "");
    if (attrs->sample_ratio)
        bind_int(bind, "samples", attrs->sample_ratio);
    else
        bind_text(bind, "samples", "(int)ceil(bin[d] > 0 ? bin[d] : 0)");
    return true;
}
