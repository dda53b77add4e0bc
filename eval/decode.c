#include "eval/decode.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

enum form { ROWS, COLUMNS, CLASS, PAIR };
enum box_form { CENTRE, CORNERS };
enum box_unit { PIXELS, PARTS };

struct row {
    const char *name;
    bool objectness;
    enum form form;
    enum box_form box;
    enum box_unit unit;
    bool grid;
    const char *what;
};

static const struct row rows[DECODER_COUNT] = {
#define DECODER(symbol, name, objectness, layout, box, unit, grid, what)                           \
    { name, objectness, layout, box, unit, grid, what },
#include "eval/decode.def"
#undef DECODER
};

static const int strides[] = { 8, 16, 32 };

enum { N_STRIDES = sizeof strides / sizeof *strides, CLASS_COLUMNS = 6 };

struct decoding decoding_default(void)
{
    return (
        struct decoding){ .decoder = DECODER_COUNT, .least_score = 0.001, .iou = 0.6, .most = 300 };
}

bool decoder_parse(const char *text, enum decoder *out)
{
    for (int i = 0; i < DECODER_COUNT; i++)
        if (strcmp(rows[i].name, text) == 0) {
            *out = (enum decoder)i;
            return true;
        }
    return false;
}

const char *decoder_list(struct arena *arena)
{
    struct str str = { .arena = arena };

    for (int i = 0; i < DECODER_COUNT; i++)
        str_printf(&str, "%s%s", i ? ", " : "", rows[i].name);
    return str_text(&str);
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* Where the numbers of a candidate are. */
struct view {
    const struct tensor *boxes, *scores; /* the same one but for PAIR */
    int64_t n;                           /* candidates */
    int n_classes;
    int64_t box_step, score_step; /* between candidates ... */
    int64_t element_step;         /* ... between the numbers of one */
    int64_t first_score;
};

/* The last two dimensions that are left when those of 1 in front are not counted. */
static bool matrix_of(const struct type *type, int64_t *n, int64_t *m)
{
    for (int i = 0; i + 2 < type->rank; i++)
        if (type->dim[i] != 1)
            return false;
    if (type->rank < 2)
        return false;
    *n = type->dim[type->rank - 2];
    *m = type->dim[type->rank - 1];
    return true;
}

static bool view_pair(const struct tensor *outputs, int n_outputs, struct view *out)
{
    int64_t n[2], m[2];
    int boxes;

    if (n_outputs < 2 || !matrix_of(&outputs[0].type, &n[0], &m[0]) ||
        !matrix_of(&outputs[1].type, &n[1], &m[1]) || n[0] != n[1])
        return false;
    boxes = m[0] == 4 && m[1] != 4 ? 0 : 1;
    if (m[boxes] != 4 || m[!boxes] < 2)
        return false;
    *out = (struct view){ .boxes = &outputs[boxes],
                          .scores = &outputs[!boxes],
                          .n = n[0],
                          .n_classes = (int)m[!boxes] - 1,
                          .box_step = 4,
                          .score_step = m[!boxes],
                          .element_step = 1,
                          .first_score = 1 };
    return true;
}

static bool view_outputs(const struct row *row, const struct tensor *outputs, int n_outputs,
                         struct view *out)
{
    const int64_t behind_box = 4 + row->objectness;
    int64_t n, m;

    if (row->form == PAIR)
        return view_pair(outputs, n_outputs, out);
    if (n_outputs < 1 || !matrix_of(&outputs[0].type, &n, &m))
        return false;
    *out = (struct view){ .boxes = &outputs[0], .scores = &outputs[0] };
    if (row->form == COLUMNS) {
        out->n = m;
        out->n_classes = (int)(n - behind_box);
        out->box_step = out->score_step = 1;
        out->element_step = m;
    } else {
        out->n = n;
        out->n_classes = row->form == CLASS ? 0 : (int)(m - behind_box);
        out->box_step = out->score_step = m;
        out->element_step = 1;
    }
    out->first_score = behind_box * out->element_step;
    return row->form == CLASS ? m == CLASS_COLUMNS : out->n_classes > 0;
}

/* Cells of the grids of an input of this size. */
static int64_t count_cells(const struct decoding *decoding)
{
    int64_t n = 0;

    for (int i = 0; i < N_STRIDES; i++)
        n += (int64_t)(decoding->input_width / strides[i]) * (decoding->input_height / strides[i]);
    return n;
}

static bool find_input(struct ctx *ctx, struct decoding *decoding, const struct function *fn)
{
    const bool nhwc = decoding->how && decoding->how->nhwc;
    const struct type *type = fn->n_params == 1 ? &fn->params[0]->type : NULL;

    if (!type || type->rank != 4)
        return diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                          "detection needs a model with one input of four dimensions");
    decoding->input_height = (int)type->dim[nhwc ? 1 : 2];
    decoding->input_width = (int)type->dim[nhwc ? 2 : 3];
    return true;
}

bool decoding_fit(struct ctx *ctx, struct decoding *decoding, const struct function *fn,
                  int n_classes)
{
    const struct row *row = &rows[decoding->decoder];
    const int n = fn->ret->n_inputs;
    struct tensor *outputs = arena_array(&ctx->scratch, struct tensor, n);
    struct view view;

    if (!find_input(ctx, decoding, fn))
        return false;
    for (int i = 0; i < n; i++)
        outputs[i] = (struct tensor){ fn->ret->inputs[i]->type, NULL };
    if (!view_outputs(row, outputs, n, &view)) {
        struct str found = { .arena = &ctx->perm };

        for (int i = 0; i < n; i++)
            str_printf(&found, "%s%s", i ? ", " : "", type_text(&ctx->perm, &outputs[i].type));
        diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "--decode %s: the model gives %s, expected %s",
                   row->name, str_text(&found), row->what);
        diag_help(ctx, "decoders are %s (docs/guide/eval.md)", decoder_list(&ctx->perm));
        return false;
    }
    if (row->grid && view.n != count_cells(decoding))
        return diag_error(
            ctx, DIAG_INPUT_MISMATCH, NULL,
            "--decode %s: %lld candidates, but grids of strides 8, 16 and 32 have %lld "
            "cells in %d x %d pixels",
            row->name, (long long)view.n, (long long)count_cells(decoding), decoding->input_width,
            decoding->input_height);
    if (row->form != CLASS && n_classes > view.n_classes)
        return diag_error(ctx, DIAG_LABELS, NULL, "the label %d is beyond the model's %d classes",
                          n_classes - 1, view.n_classes);
    return true;
}

/* --- boxes ------------------------------------------------------------------------------------ */

/* From what the network says to corners in pixels of its input. */
static void corners_of(const struct decoding *decoding, const double *said, int64_t candidate,
                       struct box *box)
{
    const struct row *row = &rows[decoding->decoder];
    double x = said[0], y = said[1], w = said[2], h = said[3];

    if (row->grid) {
        int i = 0;
        int64_t columns = decoding->input_width / strides[0];
        int64_t cells = columns * (decoding->input_height / strides[0]);

        while (candidate >= cells && i + 1 < N_STRIDES) {
            candidate -= cells;
            i++;
            columns = decoding->input_width / strides[i];
            cells = columns * (decoding->input_height / strides[i]);
        }
        x = (x + (double)(candidate % columns)) * strides[i];
        y = (y + (double)(candidate / columns)) * strides[i];
        w = exp(w) * strides[i];
        h = exp(h) * strides[i];
    }
    *box = (struct box){ x, y, w, h, 0, 0 };
    if (row->box == CENTRE) {
        box->x0 = x - w / 2;
        box->y0 = y - h / 2;
        box->x1 = x + w / 2;
        box->y1 = y + h / 2;
    }
    if (row->unit == PARTS) {
        box->x0 *= decoding->input_width;
        box->x1 *= decoding->input_width;
        box->y0 *= decoding->input_height;
        box->y1 *= decoding->input_height;
    }
}

/* Boxes are not cut at the image's border: the reference figures are those of boxes as they come.
 */
static bool place(const struct decoding *decoding, const struct placement *at,
                  const struct view *view, int64_t candidate, struct box *box)
{
    double said[4];

    for (int i = 0; i < 4; i++)
        said[i] = tensor_at(view->boxes, candidate * view->box_step + i * view->element_step);
    corners_of(decoding, said, candidate, box);
    box->x0 = (box->x0 - at->left) / at->scale_x;
    box->x1 = (box->x1 - at->left) / at->scale_x;
    box->y0 = (box->y0 - at->top) / at->scale_y;
    box->y1 = (box->y1 - at->top) / at->scale_y;
    return isfinite(box->x0) && isfinite(box->x1) && isfinite(box->y0) && isfinite(box->y1);
}

static double score_of(const struct row *row, const struct view *view, int64_t candidate, int class)
{
    const double score = tensor_at(view->scores, candidate * view->score_step + view->first_score +
                                                     class * view->element_step);

    return row->objectness ? score * tensor_at(view->scores, candidate * view->score_step +
                                                                 4 * view->element_step)
                           : score;
}

struct list {
    struct arena arena;
    int64_t n, capacity;
    struct box *at;
};

static void add_box(struct list *list, const struct box *box, int class, double score)
{
    if (list->n == list->capacity) {
        struct box *at;

        list->capacity = list->capacity ? 2 * list->capacity : 1024;
        at = arena_array(&list->arena, struct box, list->capacity);
        if (list->n)
            memcpy(at, list->at, (size_t)list->n * sizeof *at);
        list->at = at;
    }
    list->at[list->n] = *box;
    list->at[list->n].class = class;
    list->at[list->n++].score = (float)score;
}

struct boxes decode_boxes(const struct decoding *decoding, const struct image_size *image,
                          const struct tensor *outputs, int n_outputs, struct bulk *bulk)
{
    const struct row *row = &rows[decoding->decoder];
    const struct preprocessing plain = preprocessing_default();
    const struct placement at =
        preprocess_placement(decoding->how ? decoding->how : &plain, image->width, image->height);
    struct list list = { .arena = { NULL } };
    struct boxes boxes = { .n = 0 };
    struct view view;

    if (!view_outputs(row, outputs, n_outputs, &view))
        return boxes;
    for (int64_t i = 0; i < view.n; i++) {
        struct box box;
        bool placed = false;

        if (row->form == CLASS) {
            const double score = tensor_at(view.scores, i * view.score_step + 4);

            if (score > decoding->least_score && place(decoding, &at, &view, i, &box))
                add_box(&list, &box, (int)tensor_at(view.scores, i * view.score_step + 5), score);
            continue;
        }
        for (int c = 0; c < view.n_classes; c++) {
            const double score = score_of(row, &view, i, c);

            if (!(score > decoding->least_score))
                continue;
            if (!placed && !place(decoding, &at, &view, i, &box))
                break;
            placed = true;
            add_box(&list, &box, c, score);
        }
    }
    boxes.n = boxes_suppress(list.at, list.n, decoding->iou, decoding->most);
    boxes.at = bulk_alloc(bulk, (size_t)boxes.n * sizeof *boxes.at);
    if (boxes.n)
        memcpy(boxes.at, list.at, (size_t)boxes.n * sizeof *boxes.at);
    arena_release(&list.arena);
    return boxes;
}
