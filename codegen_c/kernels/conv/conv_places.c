/* conv_places.c - see conv_places.h. */
#include "codegen_c/kernels/conv/conv_places.h"

#include "codegen_c/core/anchor.h"
#include "codegen_c/microkernel/pixel_stride.h"

/* "IN_D = 4, IN_H = 5, IN_W = 6"; those equal to `usual` are left out. */
static void add_extents(struct str *out, const struct window *w, const char *stem,
                        const int64_t *extents, int64_t usual)
{
    static const char axis[] = "DHW";

    for (int i = w->rank == 3 ? 0 : 1; i < 3; i++)
        if (extents[i] != usual)
            str_printf(out, "%s%s_%c = %lld", out->n ? ", " : "", stem, axis[i],
                       (long long)extents[i]);
}

static void bind_extents(struct bind *bind, const char *key, const struct window *w,
                         const char *stem, const int64_t *extents)
{
    struct str out = { .arena = bind->arena };

    add_extents(&out, w, stem, extents, -1);
    bind_text(bind, key, "%s", str_text(&out));
}

void bind_planes_apart(struct bind *bind, const struct window *w)
{
    struct region *region = bind->region;

    region->config.planes_apart = operand_input(region, 0).plane_rows > 0 && !w->channels_last &&
                                  w->rank == 2 && w->batch * w->groups == 1;
}

/* "IN_H", or the rows of a whole plane if only some are present. */
static const char *plane_rows(const struct bind *bind)
{
    return bind->region->config.planes_apart ? "PLANE_H" : "IN_H";
}

static void bind_input_extents(struct bind *bind, const struct window *w)
{
    struct str out = { .arena = bind->arena };

    add_extents(&out, w, "IN", w->in, -1);
    if (bind->region->config.planes_apart)
        str_printf(&out, ", PLANE_H = %lld /* rows of a plane, of which x has IN_H */",
                   (long long)operand_input(bind->region, 0).plane_rows);
    bind_text(bind, "in_extents", "%s", str_text(&out));
    keys_offer(bind->keys, "plane_h", plane_rows(bind));
}

static void bind_geometry(struct bind *bind, const struct window *w)
{
    const bool deep = w->rank == 3;
    struct str steps = { .arena = bind->arena };

    bind_input_extents(bind, w);
    bind_extents(bind, "out_extents", w, "OUT", w->out);
    bind_extents(bind, "kernel_extents", w, "K", w->k);
    add_extents(&steps, w, "STRIDE", w->stride, 1);
    add_extents(&steps, w, "DIL", w->dil, 1);
    add_extents(&steps, w, "PAD", w->pad, 0);
    bind_text(bind, "steps", "%s",
              steps.n ? arena_printf(bind->arena, "%s,", str_text(&steps)) : "");
    keys_offer(bind->keys, "many", w->batch * w->groups > 1 ? "1" : "");
    keys_offer(bind->keys, "batch", arena_printf(bind->arena, "%lld", (long long)w->batch));
    keys_offer(bind->keys, "groups", arena_printf(bind->arena, "%lld", (long long)w->groups));
    bind_pixel_strides(bind);
    bind_int(bind, "in_c", w->in_c / w->groups);
    bind_int(bind, "out_c", w->out_c / w->groups);
    keys_offer(bind->keys, "taps", deep ? "K_D * K_H * K_W" : "K_H * K_W");
    bind_text(bind, "out_len", deep ? "OUT_D * OUT_H * OUT_W" : "OUT_H * OUT_W");
    keys_offer(bind->keys, "deep", deep ? "1" : "");
    offer_padded(bind, w);
}

/* Input coordinates of the kernel at pixel p of y, and of its tap (kd, kh, kw). */
static void bind_places(struct bind *bind, const struct window *w)
{
    static const char *const begin[] = { "front", "top", "left" };
    static const char *const position[] = { "p / (OUT_H * OUT_W)", "p / OUT_W", "p % OUT_W" };
    static const char *const pad[] = { "PAD_D", "PAD_H", "PAD_W" };
    static const char *const stride[] = { "STRIDE_D", "STRIDE_H", "STRIDE_W" };
    static const char *const index[] = { "id", "ih", "iw" }, *const tap[] = { "kd", "kh", "kw" };
    static const char *const dil[] = { "DIL_D", "DIL_H", "DIL_W" };
    static const char *const in[] = { "IN_D", "IN_H", "IN_W" };
    const bool deep = w->rank == 3;
    struct str begins = { .arena = bind->arena }, places = begins, outside = begins, rows = begins,
               row_outside = begins;
    const char *step[3];

    for (int i = deep ? 0 : 1; i < 3; i++) {
        const char *at = i == 1 && deep ? "p / OUT_W % OUT_H" : position[i];

        str_printf(&begins, "%s%s = %s", begins.n ? ", " : "const int ", begin[i], at);
        step[i] = w->dil[i] > 1 ? arena_printf(bind->arena, "%s * %s", tap[i], dil[i]) : tap[i];
        if (w->stride[i] > 1)
            str_printf(&begins, " * %s", stride[i]);
        if (w->pad[i] > 0)
            str_printf(&begins, " - %s", pad[i]);
        str_printf(&places, "%s%s = %s + %s", places.n ? ", " : "const int ", index[i], begin[i],
                   step[i]);
        if (i < 2)
            str_printf(&rows, "%s%s = %s + %s", rows.n ? ", " : "const int ", index[i], begin[i],
                       step[i]);
        if (i < 2 && window_reaches_out(w, i))
            str_printf(&row_outside, "%s%s < 0 || %s >= %s", row_outside.n ? " || " : "", index[i],
                       index[i], in[i]);
        str_printf(&outside, "%s%s < 0 || %s >= %s", outside.n ? " || " : "", index[i], index[i],
                   in[i]);
    }
    keys_offer(bind->keys, "origin_pixel",
               deep ? "(front * IN_H + top) * IN_W + left" : "top * IN_W + left");
    keys_offer(bind->keys, "offset",
               deep ? arena_printf(bind->arena, "((ic * IN_D + %s) * IN_H + %s) * IN_W + %s",
                                   step[0], step[1], step[2])
                    : arena_printf(bind->arena, "(ic * %s + %s) * IN_W + %s", plane_rows(bind),
                                   step[1], step[2]));
    keys_offer(bind->keys, "origins", arena_printf(bind->arena, "%s;", str_text(&begins)));
    keys_offer(bind->keys, "places", arena_printf(bind->arena, "%s;", str_text(&places)));
    keys_offer(bind->keys, "is_outside", str_text(&outside));
    keys_offer(bind->keys, "outside_0",
               w->padded ? arena_printf(bind->arena, "%s ? 0 : ", str_text(&outside)) : "");
    keys_offer(bind->keys, "outside",
               w->padded ? arena_printf(bind->arena, "%s ? zeros : ", str_text(&outside)) : "");
    keys_offer(bind->keys, "taps_of",
               deep ? "const int kd = tap / (K_H * K_W), kh = tap / K_W % K_H, kw = tap % K_W;"
                    : "const int kh = tap / K_W, kw = tap % K_W;");
    keys_offer(bind->keys, "row", deep ? "(kd * K_H + kh)" : "kh");
    keys_offer(bind->keys, "kernel_rows", deep ? "K_D * K_H" : "K_H");
    keys_offer(bind->keys, "row_pixel",
               deep ? "((id * IN_H + ih) * IN_W + left)" : "(ih * IN_W + left)");
    keys_offer(bind->keys, "row_places", arena_printf(bind->arena, "%s;", str_text(&rows)));
    keys_offer(bind->keys, "row_is_outside", str_text(&row_outside));
    keys_offer(bind->keys, "rows_outside", row_outside.n ? "1" : "");
    keys_offer(bind->keys, "is_edge", "left < 0 || left + K_W > IN_W");
    keys_offer(bind->keys, "tap", deep ? "((kd * K_H + kh) * K_W + kw)" : "(kh * K_W + kw)");
}

/* Indices of x at (id, ih, iw) and channel ic, and the starts of image and group g. */
static void bind_input_places(struct bind *bind, const struct window *w)
{
    const bool deep = w->rank == 3, grouped = w->groups > 1;
    const char *pixel = deep ? "((id * IN_H + ih) * IN_W + iw)" : "(ih * IN_W + iw)";
    const char *len = deep ? "IN_D * IN_H * IN_W" : "IN_H * IN_W";
    const char *pixel_stride =
        pixel_stride_of_x(bind->region, grouped ? "(GROUPS * IN_C)" : "IN_C");
    const char *x = bind_operand(bind, anchor_source(bind->region, 0));

    keys_offer(bind->keys, "x", x);
    keys_offer(bind->keys, "pixel", pixel);
    keys_offer(bind->keys, "pixel_stride", pixel_stride);
    if (w->channels_last) {
        keys_offer(bind->keys, "element",
                   arena_printf(bind->arena, "%s * %s + ic", pixel, pixel_stride));
        keys_offer(bind->keys, "element_wide",
                   arena_printf(bind->arena, "%s * %s + from + i", pixel, pixel_stride));
        bind_text(bind, "in_shape", deep ? "[IN_D, IN_H, IN_W, IN_C]" : "[IN_H, IN_W, IN_C]");
        keys_offer(bind->keys, "image",
                   arena_printf(bind->arena,
                                grouped ? "&%s[g / GROUPS * %s * %s + g %% GROUPS * IN_C]"
                                        : "&%s[g * %s * %s]",
                                x, len, pixel_stride));
    } else {
        const char *within =
            deep ? "* IN_D + id) * IN_H + ih) * IN_W + iw"
                 : arena_printf(bind->arena, "* %s + ih) * IN_W + iw", plane_rows(bind));

        keys_offer(bind->keys, "element",
                   arena_printf(bind->arena, deep ? "((ic %s" : "(ic %s", within));
        keys_offer(bind->keys, "element_wide",
                   arena_printf(bind->arena, deep ? "(((from + i) %s" : "((from + i) %s", within));
        bind_text(bind, "in_shape", deep ? "[IN_C, IN_D, IN_H, IN_W]" : "[IN_C, IN_H, IN_W]");
        bind_text(bind, "image", "&%s[g * IN_C * %s]", x, len);
    }
}

/* The index in y of a sum, and its channel. */
static void bind_output_places(struct bind *bind, const struct window *w, struct position *position)
{
    const bool grouped = w->groups > 1, batched = w->batch > 1;
    const char *channels = grouped ? "(GROUPS * OUT_C)" : "OUT_C";
    const char *image = grouped ? "g / GROUPS" : "g";
    const char *group = batched ? "g % GROUPS" : "g";

    keys_offer(bind->keys, "out_planar", w->out_channels_last ? "" : "1");
    if (grouped)
        bind_text(bind, "oc", "%s * OUT_C + block + i", group);
    else
        bind_text(bind, "oc", "block + i");
    if (w->out_channels_last)
        bind_at(bind,
                batched ? arena_printf(bind->arena, "(%s * OUT_LEN + first + j)", image)
                        : "(first + j)",
                channels, "oc", position);
    else if (batched)
        bind_at_index(
            bind,
            arena_printf(bind->arena, "(%s * %s + oc) * OUT_LEN + first + j", image, channels),
            position);
    else
        bind_at_index(bind, "oc * OUT_LEN + first + j", position);
    if (w->out_c > 1)
        position->coord[w->out_channels_last ? position->rank - 1 : 1] = "oc";
}

struct tile_place conv_tile_place(const struct bind *bind, const struct window *w)
{
    const bool grouped = w->groups > 1, batched = w->batch > 1;
    const char *group = batched ? "g % GROUPS" : "g", *image = grouped ? "g / GROUPS" : "g";

    return (struct tile_place){
        .pixel = batched ? arena_printf(bind->arena, "(%s * OUT_LEN + first)", image) : "first",
        .channel = grouped ? arena_printf(bind->arena, "%s * OUT_C + block", group) : "block",
        .channels = grouped ? "(GROUPS * OUT_C)" : "OUT_C",
    };
}

void bind_conv_places(struct bind *bind, const struct window *w)
{
    bind_geometry(bind, w);
    bind_places(bind, w);
    bind_input_places(bind, w);
}

void bind_conv_planes_at(struct bind *bind, const struct window *w)
{
    const bool grouped = w->groups > 1, batched = w->batch > 1;
    const char *channel = !grouped  ? "block"
                          : batched ? "g % GROUPS * OUT_C + block"
                                    : "g * OUT_C + block";

    if (batched)
        bind_text(bind, "planes_at", "(%s + %s) * OUT_LEN + first",
                  grouped ? "g / GROUPS * (GROUPS * OUT_C)" : "g * OUT_C", channel);
    else
        bind_text(bind, "planes_at", grouped ? "(%s) * OUT_LEN + first" : "%s * OUT_LEN + first",
                  channel);
}

bool bind_conv_position(struct bind *bind, const struct window *w, const char *sum)
{
    struct position position;

    bind_output_places(bind, w, &position);
    return bind_epilogue(bind, sum, &position);
}

bool bind_conv_rows(struct bind *bind, const struct window *w, const char *sum, const char *most)
{
    struct epilogue_row row = { .i = "i", .n = "n", .most = most, .multiple = w->out_c };
    struct position position;

    bind_output_places(bind, w, &position);
    bind_start(bind, "OUT_C", "block", &position, &row.start);
    return bind_row_epilogue(bind, sum, &position, &row);
}
