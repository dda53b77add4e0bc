#include "eval/average_precision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECALLS = 101 };

struct hit {
    float score;
    int class;
    int64_t order, image; /* order: image by image, best first */
    unsigned matches;     /* bit k: to a label, at threshold k */
};

struct matched {
    int n_classes, n_thresholds;
    int64_t n, n_images, n_labels; /* of hits ... */
    struct hit *hits;              /* by class, then best first */
    int *label_class;              /* [n_labels] */
    int64_t *label_image;
};

static int compare_hits(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;

    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* --- matching --------------------------------------------------------------------------------- */

/* The label of the class to match, -1 = none: of equal overlaps the last one, as in pycocotools. */
static int64_t best_label(const struct box *box, const struct boxes *labels, const bool *is_taken,
                          double threshold)
{
    double most = fmin(threshold, 1 - 1e-10);
    int64_t best = -1;

    for (int64_t i = 0; i < labels->n; i++) {
        double iou;

        if (labels->at[i].class != box->class || is_taken[i])
            continue;
        iou = box_iou(box, &labels->at[i]);
        if (iou >= most) {
            most = iou;
            best = i;
        }
    }
    return best;
}

static void match_image(const struct boxes *found, const struct boxes *labels, int n_thresholds,
                        bool *is_taken, struct hit *hits)
{
    for (int k = 0; k < n_thresholds; k++) {
        memset(is_taken, 0, (size_t)labels->n * sizeof *is_taken);
        for (int64_t i = 0; i < found->n; i++) {
            const int64_t label = best_label(&found->at[i], labels, is_taken, 0.5 + 0.05 * k);

            if (label < 0)
                continue;
            is_taken[label] = true;
            hits[i].matches |= 1U << k;
        }
    }
}

static void add_labels(struct matched *m, const struct boxes *labels, int64_t image)
{
    for (int64_t i = 0; i < labels->n; i++) {
        const int class = labels->at[i].class;

        m->label_class[m->n_labels] = class;
        m->label_image[m->n_labels++] = image;
        if (class >= m->n_classes)
            m->n_classes = class + 1;
    }
}

struct matched *boxes_match(struct arena *arena, const struct boxes *found,
                            const struct boxes *labels, int64_t n, int n_thresholds)
{
    struct matched *m = arena_new(arena, struct matched);
    int64_t n_labels = 0, most = 0;
    bool *is_taken;

    *m = (struct matched){ .n_images = n, .n_thresholds = n_thresholds };
    for (int64_t i = 0; i < n; i++) {
        m->n += found[i].n;
        n_labels += labels[i].n;
        most = labels[i].n > most ? labels[i].n : most;
    }
    m->hits = arena_array(arena, struct hit, m->n);
    m->label_class = arena_array(arena, int, n_labels);
    m->label_image = arena_array(arena, int64_t, n_labels);
    is_taken = arena_array(arena, bool, most);
    m->n = 0;
    for (int64_t i = 0; i < n; i++) {
        struct hit *hits = m->hits + m->n;

        for (int64_t j = 0; j < found[i].n; j++)
            hits[j] = (struct hit){ found[i].at[j].score, found[i].at[j].class, m->n + j, i, 0 };
        match_image(&found[i], &labels[i], n_thresholds, is_taken, hits);
        add_labels(m, &labels[i], i);
        m->n += found[i].n;
    }
    if (m->n)
        qsort(m->hits, (size_t)m->n, sizeof *m->hits, compare_hits);
    return m;
}

/* --- precision -------------------------------------------------------------------------------- */

struct room {
    double *precision, *recall; /* as many as a class has detections */
};

/* Of the detections of one class, best first. */
static double precision_at_recalls(const struct hit *hits, int64_t n, const bool *skip,
                                   int64_t n_labels, int k, const struct room *room)
{
    double n_matched = 0, sum = 0;
    int64_t n_seen = 0, at = 0;

    for (int64_t i = 0; i < n; i++) {
        if (skip && skip[hits[i].image])
            continue;
        n_matched += hits[i].matches >> k & 1;
        room->recall[n_seen] = n_matched / (double)n_labels;
        room->precision[n_seen] = n_matched / (double)(n_seen + 1);
        n_seen++;
    }
    for (int64_t i = n_seen - 1; i > 0; i--)
        room->precision[i - 1] = fmax(room->precision[i - 1], room->precision[i]);
    for (int r = 0; r < RECALLS; r++) {
        while (at < n_seen && room->recall[at] < 0.01 * r)
            at++;
        if (at < n_seen)
            sum += room->precision[at];
    }
    return sum / RECALLS;
}

double average_precision(const struct matched *m, const bool *skip)
{
    struct arena arena = { NULL };
    int64_t *n_labels = arena_array(&arena, int64_t, m->n_classes), at = 0;
    const struct room room = { arena_array(&arena, double, m->n),
                               arena_array(&arena, double, m->n) };
    double sum = 0;
    int n_classes = 0;

    for (int64_t i = 0; i < m->n_labels; i++)
        n_labels[m->label_class[i]] += !skip || !skip[m->label_image[i]];
    for (int class = 0; class < m->n_classes; class ++) {
        int64_t n = 0;

        while (at < m->n && m->hits[at].class < class)
            at++;
        while (at + n < m->n && m->hits[at + n].class == class)
            n++;
        if (!n_labels[class])
            continue;
        for (int k = 0; k < m->n_thresholds; k++)
            sum += precision_at_recalls(m->hits + at, n, skip, n_labels[class], k, &room);
        n_classes++;
    }
    arena_release(&arena);
    return n_classes ? sum / n_classes / m->n_thresholds : NAN;
}
