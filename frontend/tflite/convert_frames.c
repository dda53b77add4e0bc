/* convert_frames.c - the `signal` operators of TensorFlow Lite Micro that keep samples from run to run: in rows, one
 * for each element of the outer dimensions. Their rings become slices of what was kept and what is new. */
#include <string.h>

#include "frontend/tflite/convert_recurrent.h"
#include "frontend/tflite/convert_signal.h"
#include "relay_ir/walk.h"

enum { MOST_FRAMES = 1024, MOST_SAMPLES = 1 << 24 };

static struct value *joined(struct tfl_node *node, struct value *a, struct value *b, int axis,
                            const char *suffix)
{
    const union attrs attrs = { .axis = { .axis = axis } };

    return tfl_build(node, OP_CONCATENATE, &attrs, suffix, 2, (struct value *const[]){ a, b });
}

/* The dims but the last `inner` as one. */
static int64_t rows_of(const struct type *type, int inner)
{
    return type_span(type, 0, type->rank - inner);
}

static struct value *as_rows(struct tfl_node *node, int64_t rows, int64_t n)
{
    return tfl_shaped(node, tfl_value(node, 0), 2, (const int64_t[]){ rows, n }, "rows");
}

/* The last n of each row are kept: what was kept with x behind it. Without any, x. */
static struct value *with_kept(struct tfl_node *node, struct value *x, int64_t n)
{
    const struct type type =
        type_make(x ? x->type.dtype : DTYPE_I16, 2, (const int64_t[]){ x ? x->type.dim[0] : 0, n });
    struct tfl_kept *kept;
    struct value *both;

    if (!x || n == 0)
        return x;
    kept = tfl_memory(node, "samples", &type, NULL);
    if (!kept)
        return NULL;
    both = joined(node, tfl_memory_before(kept), x, 1, "kept_and_new");
    return both && tfl_memory_set(node, kept, tfl_along(node, both, 1, x->type.dim[1], n, "kept"))
               ? both
               : NULL;
}

static bool set_shaped(struct tfl_node *node, struct value *y)
{
    return y && tfl_output(node, 0, tfl_reshape(node, y, &node->outputs[0]->type, "shaped"));
}

bool convert_tfl_delay(struct tfl_node *node)
{
    const struct type *x;
    struct value *both;
    int64_t n, delay;

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_rank(node, node->inputs[0], 1, MAX_RANK) ||
        !tfl_check_type(node, node->inputs[0], DTYPE_I16) ||
        !tfl_option(node, "delay_length", 0, MOST_SAMPLES, &delay))
        return false;
    x = &node->inputs[0]->type;
    n = x->dim[x->rank - 1];
    both = with_kept(node, as_rows(node, rows_of(x, 1), n), delay);
    return set_shaped(node, tfl_along(node, both, 1, 0, n, "delayed"));
}

/* true, or whether as many runs as `least` were before. */
static struct value *seen(struct tfl_node *node, int64_t steps, int64_t least)
{
    const union attrs to_bool = { .cast = { .dtype = DTYPE_BOOL, .saturate = true } };
    const struct type scalar = type_scalar(DTYPE_I32);
    struct tfl_kept *count;
    struct value *enough;

    if (least <= 0)
        return tfl_build1(node, OP_CAST, &to_bool, "valid", tfl_number(node, DTYPE_I32, 1, "one"));
    count = tfl_memory(node, "steps", &scalar, NULL);
    enough = tfl_number(node, DTYPE_I32, (double)least, "steps_wanted");
    if (!tfl_memory_set(
            node, count,
            tfl_two(node, OP_MINIMUM, "steps_seen",
                    tfl_two(node, OP_ADD, "steps_behind", tfl_memory_before(count),
                            tfl_number(node, DTYPE_I32, (double)steps, "steps_of_a_run")),
                    enough)))
        return NULL;
    return tfl_two(node, OP_GREATER_EQUAL, "valid", tfl_memory_before(count), enough);
}

/* Frames that overlap. Without zeros in front the first ones are not valid until there are as many samples. */
bool convert_tfl_framer(struct tfl_node *node)
{
    struct value *both, *frames[MOST_FRAMES], *y;
    int64_t size, step, prefill, n, rows, first;
    const union attrs along = { .axis = { .axis = 1 } };
    const struct type *x;

    if (!tfl_check(node, 1, 1, 2) || !tfl_check_rank(node, node->inputs[0], 1, MAX_RANK) ||
        !tfl_check_type(node, node->inputs[0], DTYPE_I16) ||
        !tfl_option(node, "frame_step", 1, MOST_SAMPLES, &step) ||
        !tfl_option(node, "frame_size", step, MOST_SAMPLES, &size) ||
        !tfl_option(node, "prefill", 0, 1, &prefill))
        return false;
    x = &node->inputs[0]->type;
    n = x->dim[x->rank - 1];
    rows = rows_of(x, 1);
    if (n < step || n % step != 0 || n / step > MOST_FRAMES)
        return tfl_unsupported(node, "steps of %lld in rows of %lld samples", (long long)step,
                               (long long)n);
    first = prefill ? 1 : (size + step - 1) / step; /* steps until a frame is whole */
    both = with_kept(node, as_rows(node, rows, n), prefill ? size - step : (first - 1) * step);
    for (int64_t i = 0; i < n / step; i++)
        frames[i] = tfl_along(node, both, 1, i * step, size, "frame");
    y = tfl_build(node, OP_CONCATENATE, &along, "frames", (int)(n / step), frames);
    return set_shaped(node, y) && tfl_output(node, 1, seen(node, n / step, first - 1));
}

/* What was added before has a frame's length, of which the first samples are done. */
bool convert_tfl_overlap_add(struct tfl_node *node)
{
    const union attrs clip = { .clip = { INT16_MIN, INT16_MAX } };
    const union attrs along = { .axis = { .axis = 1 } };
    struct value *frames, *sum, *done[MOST_FRAMES], *zeros;
    int64_t size, step, n, rows;
    struct tfl_kept *kept = NULL;
    const struct type *x;
    struct type type;

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_rank(node, node->inputs[0], 2, MAX_RANK))
        return false;
    x = &node->inputs[0]->type;
    size = x->dim[x->rank - 1];
    n = x->dim[x->rank - 2];
    rows = rows_of(x, 2);
    if (x->dtype != DTYPE_I16 && !tfl_check_type(node, node->inputs[0], DTYPE_F32))
        return false;
    if (!tfl_option(node, "frame_step", 1, size, &step))
        return false;
    if (n < 1 || n > MOST_FRAMES)
        return tfl_unsupported(node, "%lld frames", (long long)n);
    frames = as_rows(node, rows, n * size);
    type = type_make(x->dtype, 2, (const int64_t[]){ rows, step });
    zeros = tfl_made(node, &type, tfl_payload(node, &type), "zeros");
    type.dim[1] = size - step;
    if (size > step)
        kept = tfl_memory(node, "samples", &type, NULL);
    sum = tfl_memory_before(kept);
    for (int64_t i = 0; i < n; i++) {
        struct value *frame = tfl_along(node, frames, 1, i * size, size, "frame");

        sum = size > step ? joined(node, sum, zeros, 1, "added_before") : NULL;
        if (sum && x->dtype == DTYPE_I16)
            frame = tfl_cast(
                node, DTYPE_I16, "added",
                tfl_build1(node, OP_CLIP, &clip, "clipped",
                           tfl_two(node, OP_ADD, "sum", tfl_cast(node, DTYPE_I32, "wide", frame),
                                   tfl_cast(node, DTYPE_I32, "wide_before", sum))));
        else if (sum)
            frame = tfl_two(node, OP_ADD, "added", frame, sum);
        done[i] = tfl_along(node, frame, 1, 0, step, "done");
        sum = size > step ? tfl_along(node, frame, 1, step, size - step, "rest") : NULL;
    }
    if (size > step && !tfl_memory_set(node, kept, sum))
        return false;
    return set_shaped(node, tfl_build(node, OP_CONCATENATE, &along, "all_done", (int)n, done));
}

/* Whether this is the first run, and how many frames there are with this one, of which the first counts for those
 * before it, too; valid if these are all, and then `step` of them go. */
static struct value *count_frames(struct tfl_node *node, int64_t left, int64_t frames, int64_t step,
                                  struct value **is_first)
{
    const struct type scalar = type_scalar(DTYPE_I32);
    const int32_t none = -1;
    struct tfl_kept *count = tfl_memory(node, "frames", &scalar, &none);
    struct value *now, *valid;

    *is_first = tfl_two(node, OP_LESS, "is_first", tfl_memory_before(count),
                        tfl_number(node, DTYPE_I32, 0, "none"));
    now = tfl_two(node, OP_ADD, "frames_now", tfl_memory_before(count),
                  tfl_number(node, DTYPE_I32, 1, "one"));
    now = tfl_where(node, "frames_here", *is_first,
                    tfl_number(node, DTYPE_I32, (double)left + 1, "frames_at_first"), now);
    valid = tfl_two(node, OP_GREATER_EQUAL, "valid", now,
                    tfl_number(node, DTYPE_I32, (double)frames, "frames_wanted"));
    now = tfl_where(node, "frames_behind", valid,
                    tfl_two(node, OP_SUBTRACT, "frames_left", now,
                            tfl_number(node, DTYPE_I32, (double)step, "step")),
                    now);
    return tfl_memory_set(node, count, now) ? valid : NULL;
}

/* A frame with those to its left and right; the first one stands for those before it. */
bool convert_tfl_stacker(struct tfl_node *node)
{
    int64_t channels, left, right, step, frames;
    struct value *x, *before, *is_first, *valid, *y;
    struct tfl_kept *kept;
    struct type type;

    if (!tfl_check(node, 1, 1, 2) || !tfl_check_rank(node, node->inputs[0], 1, 1) ||
        !tfl_check_type(node, node->inputs[0], DTYPE_I16) ||
        !tfl_option(node, "num_channels", 1, MOST_SAMPLES, &channels) ||
        !tfl_option(node, "stacker_left_context", 0, MOST_FRAMES, &left) ||
        !tfl_option(node, "stacker_right_context", 0, MOST_FRAMES, &right) ||
        !tfl_option(node, "stacker_step", 1, left + right + 1, &step))
        return false;
    frames = left + right + 1;
    if (channels != node->inputs[0]->type.dim[0])
        return tfl_unsupported(node, "%lld channels of %lld numbers", (long long)channels,
                               (long long)node->inputs[0]->type.dim[0]);
    x = as_rows(node, 1, channels);
    valid = count_frames(node, left, frames, step, &is_first);
    if (!x || !valid)
        return false;
    type = type_make(DTYPE_I16, 2, (const int64_t[]){ frames - 1, channels });
    y = x;
    if (frames > 1) {
        kept = tfl_memory(node, "frames_kept", &type, NULL);
        before = tfl_where(node, "frames_before", is_first, x, tfl_memory_before(kept));
        y = joined(node, before, x, 0, "stacked");
        if (!tfl_memory_set(node, kept, tfl_along(node, y, 0, 1, frames - 1, "kept")))
            return false;
    }
    return set_shaped(node, y) && tfl_output(node, 1, valid);
}
