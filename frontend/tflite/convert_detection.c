/* convert_detection.c - TFLite_Detection_PostProcess, the end of SSD detectors: boxes from offsets to anchors, those
 * that score best without what overlaps them, and how many there are.
 *
 * Inputs (f32): offsets (1, n, 4 or more) y, x, h, w; scores (1, n, classes, with one for the background in front or
 * not); anchors (n, 4) y, x, h, w. Outputs (f32): boxes (1, m, 4), classes (1, m), scores (1, m), their count (1).
 * "Fast": each box competes with its best class only. "Regular": each class by itself, then the m best of all. What
 * TensorFlow Lite Micro leaves unset behind the last detection is 0 here. */
#include <math.h>
#include <string.h>

#include "frontend/tflite/convert_compose.h"
#include "frontend/tflite/flexbuffer.h"

struct detection {
    int64_t n, columns, classes; /* boxes, scores of each with the background, classes without */
    int64_t most, per_class;     /* detections; of a class, where each is by itself */
    bool is_regular;
    double score, iou; /* thresholds */
    double scales[4];  /* y, x, h, w */
};

enum { OFFSETS, SCORES, ANCHORS };

static bool read_number(struct tfl_node *node, const struct flex_map *map, const char *key,
                        double *number)
{
    return flex_number(map, key, number) || tfl_unsupported(node, "option \"%s\" is absent", key);
}

static bool read_count(struct tfl_node *node, const struct flex_map *map, const char *key,
                       int64_t *count)
{
    double number;

    if (!read_number(node, map, key, &number))
        return false;
    if (!(number >= 1 && number <= 1 << 20))
        return tfl_unsupported(node, "option \"%s\" is %g, expected 1 to %d", key, number, 1 << 20);
    *count = (int64_t)number;
    return true;
}

static bool read_options(struct tfl_node *node, struct detection *d)
{
    static const char *const scales[] = { "y_scale", "x_scale", "h_scale", "w_scale" };
    const struct fb_vector *options = &node->op->custom_options;
    struct flex_map map;
    double number = 0;
    int64_t of_one_box;

    if (!options->data || !flex_map_of(options->data, options->n, &map))
        return tfl_unsupported(node, "its options are no map of numbers");
    for (int i = 0; i < 4; i++) {
        if (!read_number(node, &map, scales[i], &d->scales[i]))
            return false;
        if (!(d->scales[i] > 0) || isinf(d->scales[i]))
            return tfl_unsupported(node, "option \"%s\" is %g", scales[i], d->scales[i]);
    }
    if (!read_count(node, &map, "max_detections", &d->most) ||
        !read_count(node, &map, "num_classes", &d->classes) ||
        !read_count(node, &map, "max_classes_per_detection", &of_one_box) ||
        !read_number(node, &map, "nms_score_threshold", &d->score) ||
        !read_number(node, &map, "nms_iou_threshold", &d->iou))
        return false;
    if (isnan(d->score) || !(d->iou > 0 && d->iou <= 1))
        return tfl_unsupported(node, "thresholds of %g (scores) and %g (overlap)", d->score,
                               d->iou);
    d->is_regular = flex_number(&map, "use_regular_nms", &number) && number != 0;
    d->per_class = 100;
    if (flex_number(&map, "detections_per_class", &number) &&
        !read_count(node, &map, "detections_per_class", &d->per_class))
        return false;
    if (!d->is_regular && of_one_box != 1)
        return tfl_unsupported(node,
                               "%lld classes of one box, expected 1 (TensorFlow Lite Micro "
                               "mixes up their places)",
                               (long long)of_one_box);
    return true;
}

static bool check_detection(struct tfl_node *node, struct detection *d)
{
    const struct type *offsets, *scores, *anchors;

    if (!tfl_check(node, 3, 3, 4) || !read_options(node, d))
        return false;
    for (int i = 0; i < 3; i++)
        if (!tfl_check_type(node, node->inputs[i], DTYPE_F32))
            return false;
    offsets = &node->inputs[OFFSETS]->type;
    scores = &node->inputs[SCORES]->type;
    anchors = &node->inputs[ANCHORS]->type;
    if (!tfl_check_rank(node, node->inputs[OFFSETS], 3, 3) ||
        !tfl_check_rank(node, node->inputs[SCORES], 3, 3) ||
        !tfl_check_rank(node, node->inputs[ANCHORS], 2, 2))
        return false;
    d->n = offsets->dim[1];
    d->columns = scores->dim[2];
    if (offsets->dim[0] != 1 || scores->dim[0] != 1 || d->n < 1 || offsets->dim[2] < 4 ||
        scores->dim[1] != d->n || anchors->dim[0] != d->n || anchors->dim[1] != 4)
        return tfl_unsupported(node,
                               "offsets %s, scores %s and anchors %s, expected (1,n,4), "
                               "(1,n,classes) and (n,4)",
                               shape_text(&node->ctx->perm, offsets),
                               shape_text(&node->ctx->perm, scores),
                               shape_text(&node->ctx->perm, anchors));
    if (d->columns != d->classes && d->columns != d->classes + 1)
        return tfl_unsupported(node, "%lld scores of a box and %lld classes", (long long)d->columns,
                               (long long)d->classes);
    if (!d->is_regular)
        return true;
    if (d->per_class >= d->n) { /* all boxes; as many places as detections take */
        d->per_class = (d->most + d->classes - 1) / d->classes;
        d->per_class = d->per_class > d->n ? d->per_class : d->n;
    }
    return d->per_class * d->classes >= d->most ||
           tfl_unsupported(node,
                           "%lld detections of each of %lld classes, fewer than the %lld of all",
                           (long long)d->per_class, (long long)d->classes, (long long)d->most);
}

/* Of x, of two dims, `count` columns from `first` on. */
static struct value *columns(struct tfl_node *node, struct value *x, int64_t first, int64_t count,
                             const char *suffix)
{
    union attrs attrs = { .slice = { .begin = ints_fill(2, 0),
                                     .strides = ints_fill(2, 1),
                                     .size = ints_fill(2, count) } };

    if (!x)
        return NULL;
    attrs.slice.begin.at[1] = first;
    attrs.slice.size.at[0] = x->type.dim[0];
    return tfl_build1(node, OP_STRIDED_SLICE, &attrs, suffix, x);
}

static struct value *number(struct tfl_node *node, double value)
{
    return tfl_number(node, DTYPE_F32, value, "number");
}

static struct value *rows(struct tfl_node *node, struct value *x, int64_t n, int64_t columns,
                          const char *suffix)
{
    const struct type shape = type_make(DTYPE_F32, columns ? 2 : 1, (int64_t[]){ n, columns });

    return tfl_reshape(node, x, &shape, suffix);
}

/* Corners (n, 4) y, x, y, x from offsets: the middle is offset / scale * size + place of the anchor, half a side
 * e^(offset / scale) * size / 2. */
static struct value *decoded(struct tfl_node *node, const struct detection *d)
{
    const union attrs joined = { .axis = { .axis = 1 } };
    struct value *offsets =
        rows(node, tfl_value(node, OFFSETS), d->n, node->inputs[OFFSETS]->type.dim[2], "offsets");
    struct value *anchors = tfl_value(node, ANCHORS), *corners[4];

    for (int axis = 0; axis < 2; axis++) {
        struct value *size = columns(node, anchors, 2 + axis, 1, "anchor_size");
        struct value *place =
            tfl_two(node, OP_DIVIDE, "place", columns(node, offsets, axis, 1, "place_offset"),
                    number(node, d->scales[axis]));
        struct value *half =
            tfl_two(node, OP_DIVIDE, "log_size", columns(node, offsets, 2 + axis, 1, "size_offset"),
                    number(node, d->scales[2 + axis]));

        place = tfl_two(node, OP_ADD, "middle", tfl_two(node, OP_MULTIPLY, "shift", place, size),
                        columns(node, anchors, axis, 1, "anchor_place"));
        half = tfl_two(node, OP_MULTIPLY, "half",
                       tfl_two(node, OP_MULTIPLY, "grown",
                               tfl_build1(node, OP_EXP, NULL, "growth", half), number(node, 0.5)),
                       size);
        corners[axis] = tfl_two(node, OP_SUBTRACT, "least", place, half);
        corners[2 + axis] = tfl_two(node, OP_ADD, "most", place, half);
    }
    return tfl_build(node, OP_CONCATENATE, &joined, "corners", 4, corners);
}

static struct value *taken(struct tfl_node *node, struct value *x, struct value *indices,
                           const char *suffix)
{
    const union attrs attrs = { .axis = { .axis = 0 } };

    return tfl_build(node, OP_TAKE, &attrs, suffix, 2, (struct value *const[]){ x, indices });
}

/* A node of several results, named after its operator. */
static struct node *made(struct tfl_node *node, enum op op, const union attrs *attrs, int n,
                         struct value *const *inputs)
{
    for (int i = 0; i < n; i++)
        if (!inputs[i])
            return NULL;
    return node_new(
        node->fn,
        &(struct node_args){
            .op = op, .n_inputs = n, .inputs = inputs, .attrs = attrs, .origin = node->origin });
}

/* chosen (classes * most) i32, -1 where there is none, and counts (classes) i32. */
static bool suppressed(struct tfl_node *node, const struct detection *d, struct value *corners,
                       struct value *scores, int64_t classes, int64_t most, struct value **chosen,
                       struct value **counts)
{
    const union attrs attrs = { .non_max_suppression = { .max_output = most,
                                                         .iou_threshold = d->iou,
                                                         .score_threshold = d->score,
                                                         .keeps_equal = true } };
    const struct type of_boxes = type_make(DTYPE_F32, 3, (int64_t[]){ 1, d->n, 4 });
    const struct type of_scores = type_make(DTYPE_F32, 3, (int64_t[]){ 1, classes, d->n });
    const struct type of_chosen = type_make(DTYPE_I32, 1, (int64_t[]){ classes * most });
    const struct type of_counts = type_make(DTYPE_I32, 1, &classes);
    const struct node *best =
        made(node, OP_NON_MAX_SUPPRESSION, &attrs, 2,
             (struct value *const[]){ tfl_reshape(node, corners, &of_boxes, "boxes"),
                                      tfl_reshape(node, scores, &of_scores, "of_classes") });

    if (!best)
        return false;
    *chosen = tfl_reshape(node, best->outputs[0], &of_chosen, "chosen_boxes");
    *counts = tfl_reshape(node, best->outputs[1], &of_counts, "counts");
    return *chosen && *counts;
}

/* Indices, 0 where there is none; is_there: which they are. */
static struct value *indices(struct tfl_node *node, struct value *chosen, struct value **is_there)
{
    struct value *zero = tfl_number(node, DTYPE_I32, 0, "zero");

    *is_there = tfl_two(node, OP_GREATER_EQUAL, "is_there", chosen, zero);
    return tfl_two(node, OP_MAXIMUM, "index", chosen, zero);
}

/* x where there is a detection, else 0, as output i of this shape. */
static bool set_output_of(struct tfl_node *node, int i, int64_t most, struct value *is_there,
                          struct value *x)
{
    struct tfl_tensor *tensor = node->outputs[i];
    struct type shape = type_make(DTYPE_F32, 2, (int64_t[]){ 1, most });

    if (!x || !is_there)
        return false;
    if (x->type.rank == 2) {
        const struct type of_rows = type_make(DTYPE_BOOL, 2, (int64_t[]){ most, 1 });

        is_there = tfl_reshape(node, is_there, &of_rows, "rows_there");
        shape = type_make(DTYPE_F32, 3, (int64_t[]){ 1, most, 4 });
    }
    if (tensor->type.rank == 0) /* files of the time before static shapes leave it out */
        tensor->type = shape;
    return tfl_output(
        node, i,
        tfl_reshape(node, tfl_where(node, "found", is_there, x, number(node, 0)), &shape, ""));
}

static bool set_count(struct tfl_node *node, struct value *count)
{
    const struct type shape = type_make(DTYPE_F32, 1, (int64_t[]){ 1 });

    if (node->outputs[3]->type.rank == 0)
        node->outputs[3]->type = shape;
    return tfl_output(node, 3,
                      tfl_reshape(node, tfl_cast(node, DTYPE_F32, "number_of", count), &shape, ""));
}

static bool convert_fast(struct tfl_node *node, const struct detection *d, struct value *corners,
                         struct value *scores)
{
    const union attrs best = { .arg = { .axis = 1 } };
    const union attrs along = { .reduce = { .axis = ints_fill(1, 1) } };
    struct value *classes = tfl_build1(node, OP_ARGMAX, &best, "best_class", scores);
    struct value *greatest = tfl_build1(node, OP_MAX, &along, "best_score", scores);
    struct value *chosen, *count, *is_there, *at;

    if (!suppressed(node, d, corners, greatest, 1, d->most, &chosen, &count))
        return false;
    at = indices(node, chosen, &is_there);
    return set_output_of(node, 0, d->most, is_there, taken(node, corners, at, "boxes_found")) &&
           set_output_of(node, 1, d->most, is_there,
                         tfl_cast(node, DTYPE_F32, "classes_found",
                                  taken(node, classes, at, "class_found"))) &&
           set_output_of(node, 2, d->most, is_there, taken(node, greatest, at, "scores_found")) &&
           set_count(node, count);
}

static bool convert_regular(struct tfl_node *node, const struct detection *d, struct value *corners,
                            struct value *scores)
{
    const int64_t places = d->classes * d->per_class;
    const union attrs top = { .topk = {
                                  .axis = 0, .k = d->most, .largest = true, .sorted = true } };
    const union attrs all = { .reduce = { .axis = ints_fill(1, 0) } };
    const struct type of_places = type_make(DTYPE_I32, 1, &places);
    int64_t *const starts = arena_array(&node->ctx->perm, int64_t, places);
    struct value *flat, *chosen, *counts, *is_there, *at, *from;
    const struct node *best;

    for (int64_t i = 0; i < places; i++)
        starts[i] = i / d->per_class * d->n;
    flat = rows(node, tfl_permute(node, scores, "of_each_class", 2, (int64_t[]){ 1, 0 }),
                d->classes * d->n, 0, "flat_scores");
    if (!suppressed(node, d, corners, flat, d->classes, d->per_class, &chosen, &counts))
        return false;
    at = indices(node, chosen, &is_there);
    from = tfl_two(node, OP_ADD, "score_at", at, tfl_integers(node, &of_places, starts, "starts"));
    scores = tfl_where(node, "candidates", is_there, taken(node, flat, from, "scores_of"),
                       number(node, -INFINITY));
    best = made(node, OP_TOPK, &top, 1, &scores);
    if (!best)
        return false;
    from = best->outputs[1]; /* places of the best, which say class and box */
    at = indices(node, taken(node, chosen, from, "best_boxes"), &is_there);
    return set_output_of(node, 0, d->most, is_there, taken(node, corners, at, "boxes_found")) &&
           set_output_of(
               node, 1, d->most, is_there,
               tfl_cast(node, DTYPE_F32, "classes_found",
                        tfl_two(node, OP_DIVIDE, "class_found", from,
                                tfl_number(node, DTYPE_I64, (double)d->per_class, "per_class")))) &&
           set_output_of(node, 2, d->most, is_there, best->outputs[0]) &&
           set_count(node, tfl_two(node, OP_MINIMUM, "count",
                                   tfl_build1(node, OP_SUM, &all, "all", counts),
                                   tfl_number(node, DTYPE_I32, (double)d->most, "most")));
}

bool convert_tfl_detection(struct tfl_node *node)
{
    struct detection d = { 0 };
    struct value *corners, *scores;

    if (!check_detection(node, &d))
        return false;
    corners = decoded(node, &d);
    scores = columns(node, rows(node, tfl_value(node, SCORES), d.n, d.columns, "scores"),
                     d.columns - d.classes, d.classes, "class_scores");
    return d.is_regular ? convert_regular(node, &d, corners, scores)
                        : convert_fast(node, &d, corners, scores);
}
