/* Metrics of hand-made answers, whose values can be worked out on paper; labels; decoders.
 * tests/e2e/run_coco compares mean average precision with pycocotools. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/answers.h"
#include "eval/mcnemar.h"
#include "eval/average_precision.h"
#include "eval/roc.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

static struct tensor vector(float *numbers, int64_t n)
{
    return (struct tensor){ type_make(DTYPE_F32, 2, (int64_t[]){ 1, n }), numbers };
}

static void see(struct answers *answers, int64_t sample, float *numbers, int64_t n)
{
    const struct tensor result = vector(numbers, n);

    ck_assert(answers_see(answers, ctx, sample, &result, &result, 1));
}

/* --- classes ---------------------------------------------------------------------------------- */

static struct task class_task(const struct truth *truth)
{
    struct task task = { .truth = truth, .cut = 0.5 };

    for (int i = 0; i < METRIC_COUNT; i++)
        task.wanted[i] = metric_labels((enum metric)i) == LABELS_CLASSES;
    return task;
}

START_TEST(top_k_counts_equals_in_front_and_nan_as_wrong)
{
    int labels[] = { 1, 1, 6, 0, 2 };
    const struct truth truth = { .n = 5, .n_classes = 7, .classes = labels };
    const struct task task = class_task(&truth);
    struct answers *answers = answers_new(&task, 5);
    float a[] = { 0, 9, 1, 2, 3, 4, 5 };   /* right */
    float b[] = { 3, 3, 0, 0, 0, 0, 0 };   /* 0 comes first: second */
    float c[] = { 1, 1, 1, 1, 1, 1, 1 };   /* seventh */
    float d[] = { NAN, 1, 2, 3, 4, 5, 6 }; /* NaN is nothing */
    float e[] = { NAN, NAN, NAN, NAN, NAN, NAN, NAN };

    see(answers, 0, a, 7);
    see(answers, 1, b, 7);
    see(answers, 2, c, 7);
    see(answers, 3, d, 7);
    see(answers, 4, e, 7);
    ck_assert_int_eq(answers->at[1].rank, 1);
    ck_assert_int_eq(answers->at[2].rank, 6);
    ck_assert_int_eq(answers->at[3].class, 6);
    ck_assert_int_eq(answers->at[4].class, -1);
    ck_assert_double_eq(answers_metric(answers, METRIC_TOP1), 0.2);
    ck_assert_double_eq(answers_metric(answers, METRIC_TOP5), 0.4);
    ck_assert(isnan(answers_metric(answers, METRIC_AUC))); /* of NaN scores */
    answers_free(answers);
}
END_TEST

START_TEST(one_result_is_the_score_of_class_1)
{
    int labels[] = { 1, 0, 1, 0 };
    float scores[] = { 0.9f, 0.5f, 0.3f, 0.1f };
    const struct truth truth = { .n = 4, .n_classes = 2, .classes = labels };
    const struct task task = class_task(&truth);
    struct answers *answers = answers_new(&task, 4);

    for (int i = 0; i < 4; i++)
        see(answers, i, &scores[i], 1);
    ck_assert_double_eq(answers_metric(answers, METRIC_ACCURACY), 0.75); /* 0.5 is not above */
    ck_assert_double_eq(answers_metric(answers, METRIC_AUC), 0.75);
    answers_free(answers);
}
END_TEST

/* Adding a number to both logits of a sample changes no answer, and must not change the area. */
START_TEST(of_two_results_the_difference_is_the_score)
{
    int labels[] = { 1, 0, 1, 0 };
    float logits[][2] = { { 7, 9 }, { 0, 1 }, { -5, -4.5f }, { 3, 3 } };
    const struct truth truth = { .n = 4, .n_classes = 2, .classes = labels };
    const struct task task = class_task(&truth);
    struct answers *answers = answers_new(&task, 4);

    for (int i = 0; i < 4; i++)
        see(answers, i, logits[i], 2);
    ck_assert_double_eq(answers_metric(answers, METRIC_AUC), 0.75); /* 2, 0.5 against 1, 0 */
    answers_free(answers);
}
END_TEST

START_TEST(auc_of_three_classes_is_the_mean_of_one_against_others)
{
    int labels[] = { 0, 1, 2, 1 };
    float scores[][3] = { { 3, 0, 2 }, { 1, 2, 0 }, { 2, 3, 1 }, { 0, 1, 3 } };
    const struct truth truth = { .n = 4, .n_classes = 3, .classes = labels };
    const struct task task = class_task(&truth);
    struct answers *answers = answers_new(&task, 4);

    for (int i = 0; i < 4; i++)
        see(answers, i, scores[i], 3);
    /* class 0: 3 above all; class 1: 2, 1 against 0, 3: 2 of 4; class 2: 1 against 2, 0, 3: 1 of 3
     */
    ck_assert_double_eq_tol(answers_metric(answers, METRIC_AUC), (1 + 0.5 + 1.0 / 3) / 3, 1e-15);
    answers_free(answers);
}
END_TEST

START_TEST(comparisons_count_both_ways)
{
    int labels[] = { 1, 1, 1, 1, 1 };
    const struct truth truth = { .n = 5, .n_classes = 2, .classes = labels };
    const struct task task = class_task(&truth);
    struct answers *was = answers_new(&task, 5), *now = answers_new(&task, 5);
    float right[] = { 0, 1 }, wrong[] = { 1, 0 };
    const bool before[] = { true, true, true, false, false };
    const bool after[] = { true, true, false, false, true };
    struct paired p;

    for (int i = 0; i < 5; i++) {
        see(was, i, before[i] ? right : wrong, 2);
        see(now, i, after[i] ? right : wrong, 2);
    }
    p = answers_compare(was, now, METRIC_TOP1);
    ck_assert(p.has_classes);
    ck_assert_int_eq(p.n_agree, 3);
    ck_assert_int_eq(p.n_lost, 1);
    ck_assert_int_eq(p.n_won, 1);
    ck_assert_double_eq(p.p, 1);
    ck_assert_double_eq(p.change, 0);
    ck_assert_double_eq_tol(p.error, 0.282843, 1e-6); /* sqrt(2 / 5 / 5) */
    p = answers_compare(was, was, METRIC_AUC);
    ck_assert(!p.has_classes);
    answers_free(was);
    answers_free(now);
}
END_TEST

/* Two-sided binomial tests with p = 1/2, from sums of binomial coefficients. */
/* Without labels the float model is right. */
START_TEST(the_float_model_is_the_reference)
{
    static const char text[] = "fn main(%x: (1,3) f32) -> (%r) {\n"
                               "  %r = nn.relu(%x) : (1,3) f32\n"
                               "}\n";
    struct module *module = graph_parse(ctx, text, 1);
    struct task task = { .cut = 0.5 };
    struct answers *was, *now;
    struct paired p;
    float f32[][3] = { { 0, 3, 4 }, { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 0 } };
    float other[][3] = { { 0, 4, 3 }, { 2, 0, 0 }, { 0, NAN, 0 }, { 0, 0, 0 } };

    task.wanted[METRIC_AGREE] = task.wanted[METRIC_COS] = true;
    task.reference = reference_new(ctx, module->main, 4);
    was = answers_new(&task, 4);
    now = answers_new(&task, 4);
    was->is_reference = true;
    for (int i = 0; i < 4; i++)
        see(was, i, f32[i], 3);
    for (int i = 0; i < 4; i++)
        see(now, i, other[i], 3);
    ck_assert_double_eq(answers_metric(was, METRIC_AGREE), 1);
    ck_assert_double_eq(answers_metric(was, METRIC_COS), 1);
    ck_assert_double_eq(answers_metric(now, METRIC_AGREE), 0.5);
    /* 24 / 25, 1, none, and two zeros */
    ck_assert_double_eq_tol(answers_metric(now, METRIC_COS), (0.96 + 1 + 0 + 1) / 4, 1e-12);
    p = answers_compare(was, now, METRIC_AGREE);
    ck_assert_int_eq(p.n_lost, 2);
    ck_assert_int_eq(p.n_won, 0);
    answers_free(was);
    answers_free(now);
    reference_free(task.reference);
    module_free(module);
}
END_TEST

START_TEST(mcnemar_is_the_binomial_test)
{
    static const struct {
        int64_t lost, won;
        double p;
    } cases[] = { { 0, 0, 1 },
                  { 1, 1, 1 },
                  { 5, 0, 2 / 32.0 },
                  { 8, 6, 2 * 6476 / 16384.0 },
                  { 6, 8, 2 * 6476 / 16384.0 },
                  { 1, 9, 2 * 11 / 1024.0 } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_double_eq_tol(mcnemar_p(cases[i].lost, cases[i].won), cases[i].p, 1e-12);
    ck_assert(mcnemar_p(3000, 1000) >= 0 && mcnemar_p(3000, 1000) < 1e-200);
    ck_assert_double_eq_tol(mcnemar_p(5000, 5000), 1, 1e-9);
}
END_TEST

START_TEST(mse_is_of_result_and_input)
{
    const struct task task = { .wanted = { [METRIC_MSE] = true } };
    struct answers *answers = answers_new(&task, 2);
    float x[] = { 1, 2 }, y[] = { 2, 4 }, same[] = { 3, 3 };
    const struct tensor in = vector(x, 2), out = vector(y, 2), equal = vector(same, 2);

    ck_assert(answers_see(answers, ctx, 0, &in, &out, 1));
    ck_assert(answers_see(answers, ctx, 1, &equal, &equal, 1));
    ck_assert_double_eq(answers_metric(answers, METRIC_MSE), 1.25); /* (2.5 + 0) / 2 */
    answers_free(answers);
}
END_TEST

/* --- boxes ------------------------------------------------------------------------------------ */

START_TEST(overlap_is_intersection_over_union)
{
    const struct box a = { 0, 0, 4, 4, 0, 0 }, b = { 2, 0, 6, 4, 0, 0 }, c = { 4, 0, 8, 4, 0, 0 };
    const struct box empty = { 3, 3, 3, 3, 0, 0 };

    ck_assert_double_eq(box_iou(&a, &a), 1);
    ck_assert_double_eq_tol(box_iou(&a, &b), 1.0 / 3, 1e-15);
    ck_assert_double_eq(box_iou(&a, &c), 0);
    ck_assert_double_eq(box_iou(&empty, &empty), 0);
}
END_TEST

START_TEST(suppression_keeps_the_best_of_each_class)
{
    struct box boxes[] = {
        { 0, 0, 10, 10, 0, 0.5f },   { 1, 0, 11, 10, 0, 0.9f }, /* overlap by 9 / 11 */
        { 1, 0, 11, 10, 1, 0.8f },                              /* another class stays */
        { 5, 0, 15, 10, 0, 0.4f },                              /* 6 / 14 of the best: stays */
        { 40, 40, 50, 50, 0, 0.1f },
    };

    ck_assert_int_eq(boxes_suppress(boxes, 5, 0.6, 3), 3);
    ck_assert_float_eq(boxes[0].score, 0.9f);
    ck_assert_float_eq(boxes[1].score, 0.8f);
    ck_assert_float_eq(boxes[2].score, 0.4f);
    ck_assert_int_eq(boxes_suppress(NULL, 0, 0.6, 300), 0);
}
END_TEST

/* One class, two labels; found: right (0.9), twice the same (0.8), right (0.7). Precision 1, 1/2,
 * 2/3 at recall 1/2, 1/2, 1; falling: 1, 2/3, 2/3: 51 recalls up to 0.5, and 50 above. */
START_TEST(a_second_box_on_one_label_is_wrong)
{
    struct box labels[] = { { 0, 0, 10, 10, 0, 0 }, { 20, 0, 30, 10, 0, 0 } };
    struct box found[] = { { 0, 0, 10, 10, 0, 0.9f },
                           { 0, 0, 10, 9, 0, 0.8f },
                           { 20, 0, 30, 8, 0, 0.7f } }; /* IoU 0.8 */
    const struct boxes truth[] = { { 2, labels }, { 0, NULL } };
    const struct boxes given[] = { { 3, found }, { 0, NULL } };
    struct arena arena = { NULL };
    const struct matched *at50 = boxes_match(&arena, given, truth, 2, 1);
    const bool all[] = { true, true };
    const double full = (51 + 50 * 2.0 / 3) / 101;
    /* at 0.85, 0.90, 0.95 the last one is wrong; at 0.80 it is not */
    const double half = 51.0 / 101;

    ck_assert_double_eq_tol(average_precision(at50, NULL), full, 1e-12);
    ck_assert_double_eq_tol(average_precision(boxes_match(&arena, given, truth, 2, 10), NULL),
                            (7 * full + 3 * half) / 10, 1e-12);
    ck_assert(isnan(average_precision(at50, all)));
    arena_release(&arena);
}
END_TEST

/* Each decoder says the same two boxes: 100 20 .. 140 60 of class 1, and 8 8 .. 24 16 of class 0,
 * in an input of 160 x 64 that is a letterbox of an image of 320 x 64: half as big, 16 pixels
 * above. */
struct decode_case {
    const char *decoder;
    int64_t rows, columns;
    float numbers[16];
};

static const struct decode_case decode_cases[] = {
    { "yolov5", 2, 7, { 120, 40, 40, 40, 0.5f, 0, 0.5f, 16, 12, 16, 8, 1, 0.125f, 0 } },
    { "yolov8", 6, 2, { 120, 16, 40, 12, 40, 16, 40, 8, 0, 0.125f, 0.25f, 0 } },
    { "boxes", 2, 6, { 100, 20, 140, 60, 0.25f, 1, 8, 8, 24, 16, 0.125f, 0 } },
};

static void check_boxes(const struct boxes *boxes)
{
    ck_assert_int_eq(boxes->n, 2);
    ck_assert_int_eq(boxes->at[0].class, 1);
    ck_assert_float_eq(boxes->at[0].score, 0.25f);
    ck_assert_double_eq_tol(boxes->at[0].x0, 200, 1e-4);
    ck_assert_double_eq_tol(boxes->at[0].y0, 8, 1e-4);
    ck_assert_double_eq_tol(boxes->at[0].x1, 280, 1e-4);
    ck_assert_double_eq_tol(boxes->at[0].y1, 88, 1e-4);
    ck_assert_int_eq(boxes->at[1].class, 0);
    ck_assert_double_eq_tol(boxes->at[1].x1, 48, 1e-4);
    ck_assert_double_eq_tol(boxes->at[1].y0, -16, 1e-4); /* not cut at the border */
}

static const char letterbox[] =
    "{\"resize\": {\"mode\": \"letterbox\", \"width\": 160, \"height\": 64}}";
static const struct image_size wide = { 320, 64 };

static struct decoding decoding_of(const char *name, struct preprocessing *how)
{
    struct decoding d = decoding_default();

    ck_assert(preprocessing_parse(ctx, "spec", letterbox, strlen(letterbox), how));
    ck_assert(decoder_parse(name, &d.decoder));
    d.how = how;
    d.input_width = 160;
    d.input_height = 64;
    return d;
}

START_TEST(decoders_bring_boxes_back_to_the_image)
{
    const struct decode_case *row = &decode_cases[_i];
    float numbers[16];
    const struct tensor output = {
        type_make(DTYPE_F32, 3, (int64_t[]){ 1, row->rows, row->columns }), numbers
    };
    struct preprocessing how;
    const struct decoding d = decoding_of(row->decoder, &how);
    struct bulk bulk = { 0 };
    struct boxes boxes;

    memcpy(numbers, row->numbers, sizeof numbers);
    boxes = decode_boxes(&d, &wide, &output, 1, &bulk);
    check_boxes(&boxes);
    bulk_release(&bulk);
}
END_TEST

START_TEST(ssd_takes_its_two_results_in_any_order)
{
    float at[] = { 0.625f, 0.3125f, 0.875f, 0.9375f, 0.05f, 0.125f, 0.15f, 0.25f };
    float scores[] = { 0.9f, 0, 0.25f, 0.9f, 0.125f, 0 };
    struct tensor outputs[] = { { type_make(DTYPE_F32, 3, (int64_t[]){ 1, 2, 3 }), scores },
                                { type_make(DTYPE_F32, 3, (int64_t[]){ 1, 2, 4 }), at } };
    struct preprocessing how;
    const struct decoding d = decoding_of("ssd", &how);

    for (int turn = 0; turn < 2; turn++) {
        const struct tensor first = outputs[0];
        struct bulk bulk = { 0 };
        const struct boxes boxes = decode_boxes(&d, &wide, outputs, 2, &bulk);

        check_boxes(&boxes);
        bulk_release(&bulk);
        outputs[0] = outputs[1];
        outputs[1] = first;
    }
}
END_TEST

/* 160 x 64: 20 * 8 cells of 8 pixels, then 10 * 4 of 16, then 5 * 2 of 32. */
START_TEST(grids_follow_one_another)
{
    enum { CELLS = 160 + 40 + 10 };
    static float numbers[CELLS][7];
    const struct tensor output = { type_make(DTYPE_F32, 3, (int64_t[]){ 1, CELLS, 7 }), numbers };
    struct preprocessing how;
    const struct decoding d = decoding_of("yolox", &how);
    struct bulk bulk = { 0 };
    struct boxes boxes;
    const float one[] = { 0.5f, 0.5f, (float)log(2.5), (float)log(2.5), 1, 0, 0.25f };
    const float two[] = { 0, 0.5f, (float)log(2), 0, 1, 0.125f, 0 };

    memcpy(numbers[160 + 2 * 10 + 7], one, sizeof one); /* 7.5 * 16, 2.5 * 16: 120, 40 */
    memcpy(numbers[1 * 20 + 2], two, sizeof two);       /* 2 * 8, 1.5 * 8: 16, 12 */
    boxes = decode_boxes(&d, &wide, &output, 1, &bulk);
    check_boxes(&boxes);
    bulk_release(&bulk);
}
END_TEST

/* --- labels ----------------------------------------------------------------------------------- */

struct label_case {
    const char *text;
    const char *wanted; /* "1 0 2", or what the errors say */
};

static const struct label_case label_cases[] = {
    { "a.jpg 1\nb.jpg 0\nc d.jpg 2\n", "1 0 2" },
    { "# sorted otherwise\n\nc d.jpg 2\r\nb.jpg\t0\nx/a.jpg 1", "1 0 2" },
    { "1\n0\n2\n", "1 0 2" },
    { "1\n0\n", "has 2 labels, and there are 3 samples" },
    { "a.jpg 1\nb.jpg cat\nc d.jpg -2\n", ":2: 'b.jpg cat' is not a label" },
    { "a.jpg 1\nb.jpg 0\nc d.jpg 2\ne.jpg 0\n",
      "labels 1 file that the data does not have: 'e.jpg'" },
    { "a.jpg 1\nf.jpg 1\n", "has no label for 2 samples: 'b.jpg', 'c d.jpg'" },
    { "a.jpg 1\na.jpg 2\n", "has two different labels for 'a.jpg'" },
};

START_TEST(labels_are_found_by_name_or_in_order)
{
    const struct label_case *row = &label_cases[_i];
    const char *const paths[] = { "data/a.jpg", "data/b.jpg", "data/c d.jpg" };
    struct temp_dir dir = temp_dir_new();
    const char *path = temp_file(&dir, "labels.txt", row->text, strlen(row->text));
    struct truth truth;

    if (truth_read_classes(ctx, path, paths, 3, &truth))
        ck_assert_str_eq(arena_printf(&ctx->perm, "%d %d %d", truth.classes[0], truth.classes[1],
                                      truth.classes[2]),
                         row->wanted);
    else
        ck_assert_msg(strstr(expect_text(ctx), row->wanted), "%s", expect_text(ctx));
    temp_dir_free(&dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("eval");
    TCase *tcase = tcase_create("eval");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, top_k_counts_equals_in_front_and_nan_as_wrong);
    tcase_add_test(tcase, one_result_is_the_score_of_class_1);
    tcase_add_test(tcase, of_two_results_the_difference_is_the_score);
    tcase_add_test(tcase, auc_of_three_classes_is_the_mean_of_one_against_others);
    tcase_add_test(tcase, comparisons_count_both_ways);
    tcase_add_test(tcase, the_float_model_is_the_reference);
    tcase_add_test(tcase, mcnemar_is_the_binomial_test);
    tcase_add_test(tcase, mse_is_of_result_and_input);
    tcase_add_test(tcase, overlap_is_intersection_over_union);
    tcase_add_test(tcase, suppression_keeps_the_best_of_each_class);
    tcase_add_test(tcase, a_second_box_on_one_label_is_wrong);
    tcase_add_loop_test(tcase, decoders_bring_boxes_back_to_the_image, 0, N_ROWS(decode_cases));
    tcase_add_test(tcase, ssd_takes_its_two_results_in_any_order);
    tcase_add_test(tcase, grids_follow_one_another);
    tcase_add_loop_test(tcase, labels_are_found_by_name_or_in_order, 0, N_ROWS(label_cases));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
