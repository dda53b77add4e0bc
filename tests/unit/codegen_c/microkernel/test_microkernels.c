/* The microkernels of templates/helpers/microkernel, for a list of register shapes: as they are, with lists of macros
 * (--target generic) and written out (--target CPU), against naive loops. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/file.h"
#include "codegen_c/microkernel/columns.h"
#include "codegen_c/microkernel/pairs_axes.h"
#include "tests/support/temp_dir.h"

#define FOLDER "templates/helpers/microkernel/"
#define STRICT " -std=gnu99 -Wall -Wextra -Wno-unused-function -Wno-psabi -Werror "

static const struct shape {
    int mr, nr, lanes;
} shapes[] = {
    { 8, 2, 16 }, { 6, 4, 16 }, { 14, 1, 16 }, { 6, 2, 8 }, { 4, 3, 8 }, { 12, 1, 8 }, { 8, 2, 4 },
    { 2, 4, 4 },  { 3, 2, 4 },  { 12, 1, 4 },  { 1, 2, 4 }, { 4, 4, 1 }, { 1, 1, 1 },
};

#define WEIGHTS "LEN, a->weights, a->width, "
#define PAIRS WEIGHTS "a->x_pairs, a->w_pairs, "
#define COLUMNS "a->points, a->offset, " WEIGHTS "a->to, STORE_STEP"

/* A form, how tile_check.h calls it, and its arguments in front of the results. */
static const struct form {
    const char *name, *inputs;
    struct tile_form form;
    bool stepped;   /* pixels are a constant step apart */
    bool registers; /* of pairs: inputs are loaded into registers */
    bool columns;   /* pixel vectors … */
    bool splat;     /* … whose weights are stored LANES times */
} forms[] = {
    { .name = "BY_TAPS", .inputs = "a->points, TAPS, " WEIGHTS },
    { .name = "BY_TAPS",
      .inputs = "a->points, TAPS, " WEIGHTS "a->ahead, ",
      .form = { .fetch = FETCH_LINE } },
    { .name = "BY_TAPS",
      .inputs = "a->points, TAPS, " WEIGHTS "a->ahead, 5, ",
      .form = { .fetch = FETCH_PACED } },
    { .name = "BY_OFFSETS",
      .inputs = "a->points, a->offset, " WEIGHTS,
      .form = { .input = TILE_OFFSETS } },
    { .name = "BY_STEPS",
      .inputs = "a->x, a->offset, " WEIGHTS,
      .form = { .input = TILE_OFFSETS },
      .stepped = true },
    { .name = "BY_ROWS",
      .inputs = "a->x, STRIDE, " WEIGHTS "a->ahead, ",
      .form = { .input = TILE_ROWS, .fetch = FETCH_LINE } },
    { .name = "BY_ROWS",
      .inputs = "a->x, STRIDE, " WEIGHTS,
      .form = { .input = TILE_ROWS, .adds = true } },
    { .name = "BY_ROWS",
      .inputs = "a->x, STRIDE, " WEIGHTS "a->ahead, 5, ",
      .form = { .input = TILE_ROWS, .fetch = FETCH_PACED, .adds = true } },
    { .name = "BY_PARTS",
      .inputs = "a->points, " WEIGHTS "a->ahead, 5, ",
      .form = { .fetch = FETCH_PACED, .adds = true } },
    { .name = "PAIRS", .inputs = "a->points, " PAIRS, .form = { .pairs = true } },
    { .name = "PAIRS",
      .inputs = "a->points, " PAIRS "a->ahead, ",
      .form = { .fetch = FETCH_LINE, .pairs = true },
      .registers = true },
    { .name = "PAIRS_BY_STEPS",
      .inputs = "a->x, " PAIRS,
      .form = { .pairs = true },
      .stepped = true },
    { .name = "PAIRS_BY_STEPS",
      .inputs = "a->x, " PAIRS "a->ahead, ",
      .form = { .input = TILE_ROWS, .fetch = FETCH_LINE, .pairs = true },
      .stepped = true,
      .registers = true },
    { .name = "PAIRS_BY_ROWS",
      .inputs = "a->x, STRIDE, " PAIRS "a->ahead, ",
      .form = { .input = TILE_ROWS, .fetch = FETCH_LINE, .pairs = true } },
    { .name = "COLUMNS_OF_PIXELS", .inputs = COLUMNS, .columns = true },
    { .name = "COLUMNS_OF_PIXELS", .inputs = COLUMNS, .columns = true, .splat = true },
};

enum { N_SHAPES = sizeof shapes / sizeof *shapes, N_FORMS = sizeof forms / sizeof *forms };

static struct ctx *ctx;
static struct temp_dir dir;

static void setup(void)
{
    ctx = ctx_new("microkernels");
    dir = temp_dir_new();
}

static void teardown(void)
{
    temp_dir_free(&dir);
    ctx_free(ctx);
}

/* --- texts of one function -------------------------------------------------------------------- */

/* Whether sums are scaled. */
static bool scales(const struct form *form, bool stores)
{
    return form->form.pairs && (stores || form->form.input == TILE_ROWS);
}

/* The end of Winograd inner products. C as it is has no macros for the variables of lists. */
static void set_end_of_pairs(const struct tile_axes *axes, bool stores, bool as_it_is,
                             struct microkernel *kernel)
{
    const struct tile_end end = {
        .parameters = arena_printf(&ctx->perm, "const float *scale, const float *back, float *%s",
                                   stores ? "y, int step, const float *bias_1" : "sum"),
        .fetch = "",
        .channel =
            as_it_is ? "" : "const VECTOR scale##v = *(const VECTOR *)&scale[v * LANES] * *back;",
        .shared = "READ_HERE(back)",
        .end = arena_printf(&ctx->perm,
                            stores ? "*(VECTOR *)&y[j * step + v * LANES] = RELU(sums[j][v] * %s + "
                                     "*(const VECTOR *)&bias_1[v * LANES]);"
                                   : "*(VECTOR *)&sum[j * TILE + v * LANES] = sums[j][v] * %s;",
                            as_it_is ? "*(const VECTOR *)&scale[v * LANES] * *back" : "scale##v"),
    };

    if (stores || (as_it_is && axes->form.input == TILE_ROWS))
        tile_axes_set_end(&end, kernel);
    else
        pairs_axes_set_sums(axes, kernel);
}

static void set_axes_of_columns(const struct form *form, const struct shape *shape, bool stores,
                                struct microkernel *kernel)
{
    const struct columns columns = {
        .channels = shape->mr, .vectors = shape->nr, .planar = true, .splat = form->splat
    };

    columns_axes_set(&columns, NULL, kernel);
    axis_setf(kernel, "VECTOR", "vector%d", shape->lanes);
    axis_setf(kernel, "LANES", "%d", shape->lanes);
    axis_set(kernel, "COLUMNS", "float *const *to, int step");
    axis_set(kernel, "SHARED", "");
    axis_set(kernel, "COMPUTE(c, v)", stores ? "sums[c][v] = RELU(sums[c][v]);" : "");
    axis_set(kernel, "STORE_ALL(v)", "");
}

static void set_axes(const struct form *form, const struct shape *shape, bool stores, bool as_it_is,
                     const char *name, struct microkernel *kernel)
{
    static const struct tile_end relu = {
        .parameters = "float *y, int step, int n_pixels, const float *bias_1",
        .fetch = "__builtin_prefetch(&y[j * step + v * LANES], 0, 2);",
        .channel = "",
        .shared = "const float *const b = bias_1;",
        .end = "*(VECTOR *)&y[j * step + v * LANES] = RELU(sums[j][v] + *(const VECTOR *)&b[v * "
               "LANES]);"
    };
    struct arena *arena = &ctx->perm;
    const struct tile_axes axes = {
        .form = form->form,
        .step = form->stepped ? 64 : 0,
        .linkage = "static inline",
        .tile = arena_printf(arena, "%d", shape->nr * shape->lanes),
        .vector = arena_printf(arena, "vector%d", shape->lanes),
        .lanes = arena_printf(arena, "%d", shape->lanes),
        .fuse = form->stepped ? arena_printf(arena, "fuse%d", shape->lanes) : NULL,
        .fuses_vectors = form->stepped,
    };

    *kernel = (struct microkernel){
        .axes = { .arena = arena },
        .pixels = arena_printf(arena, "%d", shape->mr),
        .each_pixel = "EACH_PIXEL",
        .each_vector = "EACH_VECTOR",
    };
    if (form->columns) {
        set_axes_of_columns(form, shape, stores, kernel);
    } else if (form->form.pairs) {
        pairs_axes_set(&axes, form->registers, kernel);
        set_end_of_pairs(&axes, stores, as_it_is, kernel);
    } else {
        tile_axes_set(&axes, kernel);
        if (stores)
            tile_axes_set_end(&relu, kernel);
        else
            tile_axes_set_sums(kernel);
    }
    axis_set(kernel, "FN", name);
}

static const char *file_of(const struct form *form)
{
    const struct tile_axes axes = { .form = form->form, .step = form->stepped };

    return form->columns      ? "tile_columns"
           : form->form.pairs ? pairs_axes_file(&axes)
                              : tile_axes_file(&axes);
}

static const char *file_text(const char *name)
{
    struct mapping mapping;

    ck_assert(file_map(ctx, arena_printf(&ctx->perm, FOLDER "%s.c", name), &mapping));
    return arena_strndup(&ctx->perm, (const char *)mapping.data, mapping.size);
}

/* The file itself, its words defined as macros. */
static void add_as_it_is(struct str *out, const struct form *form, const struct shape *shape,
                         const struct microkernel *kernel)
{
    const char *axes = str_text(&kernel->axes);

    str_printf(
        out, "%s#define MR %d\n#define NR %d\n#include \"" FOLDER "%s.c\"\n#undef MR\n#undef NR\n",
        axes, shape->mr, shape->nr, file_of(form));
    for (const char *line = axes; *line; line += strcspn(line, "\n") + 1) {
        const char *name = line + strlen("#define ");

        str_printf(out, "#undef %.*s\n", (int)strcspn(name, "( "), name);
    }
}

/* As relayc prints it, with lists, or written out: without any macro. */
static void add_printed(struct str *out, const struct form *form, const struct shape *shape,
                        struct microkernel *kernel, bool written_out)
{
    const char *text;

    kernel->mr = written_out ? shape->mr : 0;
    kernel->nr = written_out ? shape->nr : 0;
    text = microkernel_text(&ctx->perm, kernel, file_text(file_of(form)));
    ck_assert_ptr_null(strstr(text, "for (int j"));
    ck_assert_ptr_null(strstr(text, "for (int v"));
    ck_assert_msg(!written_out || !strchr(text, '#'), "%s", text);
    if (written_out) {
        str_add(out, text);
        return;
    }
    kernel->mr = shape->mr;
    kernel->nr = shape->nr;
    str_printf(out, "%s%s#undef EACH_PIXEL\n#undef EACH_VECTOR\n",
               microkernel_lists(&ctx->perm, kernel), text);
}

/* --- the program ------------------------------------------------------------------------------ */

static const char prelude[] =
    "#include \"tests/unit/codegen_c/microkernel/tile_check.h\"\n"
    "#define WIDE\n"
    "#define MICROKERNEL_H\n"
    "#define READ_HERE(p)\n"
    "#define PAIRED(len) ((len) / 3 * 2)\n"
    "typedef float vector1;\n"
    "#define VECTORS(n) typedef float vector##n __attribute__((vector_size(n * 4), aligned(4), "
    "may_alias));\n"
    "VECTORS(4) VECTORS(8) VECTORS(16)\n"
    "#define FUNCTIONS(n, V) \\\n"
    "    static inline V fuse##n(V s, V x, V w) { return s + x * w; } \\\n"
    "    static inline V spread##n(const float *x) { return *x - (V){ 0 }; } \\\n"
    "    static inline V add_pair##n(V s, V x, V y, V b, V c) { return s + (x + c) * (y + b); } "
    "\\\n"
    "    static inline V subtract_pair##n(V s, V x, V y, V b, V c) { return s - (x - c) * (y - b); "
    "} \\\n"
    "    static inline V add_product##n(V s, V x, V b) { return s + x * b; } \\\n"
    "    static inline V add_pair_m##n(V s, const float *x, const float *y, V b, V c) \\\n"
    "    { return s + (*x + c) * (*y + b); } \\\n"
    "    static inline V subtract_pair_m##n(V s, const float *x, const float *y, V b, V c) \\\n"
    "    { return s - (*x - c) * (*y - b); } \\\n"
    "    static inline V add_product_m##n(V s, const float *x, V b) { return s + *x * b; }\n"
    "FUNCTIONS(1, float) FUNCTIONS(4, vector4) FUNCTIONS(8, vector8) FUNCTIONS(16, vector16)\n";

/* The functions that tiles of pairs call, in registers or from memory. */
static void add_functions_of_pairs(struct str *out, int lanes, bool registers)
{
    static const char *const names[] = { "add_pair", "subtract_pair", "add_product" };

    str_printf(out, "#undef spread\n#define spread spread%d\n", lanes);
    for (int i = 0; i < 3; i++)
        str_printf(out, "#undef %s\n#define %s %s%s%d\n", names[i], names[i], names[i],
                   registers ? "" : "_m", lanes);
}

/* The arguments behind those of the form. */
static const char *results(const struct form *form, bool stores)
{
    return form->columns          ? ""
           : !form->form.pairs    ? (stores ? "a->out, STORE_STEP, a->n_pixels, a->bias" : "a->out")
           : stores               ? "a->scale, a->back, a->out, STORE_STEP, a->bias"
           : scales(form, stores) ? "a->scale, a->back, a->out"
                                  : "a->out";
}

/* One function for each way of writing it, a call of it, and a row of the table. */
static void add_tile(struct str *out, struct str *rows, const struct form *form,
                     const struct shape *shape, bool stores)
{
    static const char *const ways[] = { "as it is", "lists", "written out" };
    static int n;

    for (int way = 0; way < 3; way++, n++) {
        const char *name = arena_printf(&ctx->perm, "tile_%d", n);
        struct microkernel kernel;

        set_axes(form, shape, stores, way == 0, name, &kernel);
        str_printf(out,
                   shape->lanes == 1
                       ? "#define RELU(a) ((a) < 0 ? 0 : (a))\n"
                       : "#define RELU(a) (vector%d)((int%d)(a) & (int%d)((a) > 0))\n",
                   shape->lanes, shape->lanes, shape->lanes);
        add_functions_of_pairs(out, shape->lanes, form->registers);
        if (way == 0)
            add_as_it_is(out, form, shape, &kernel);
        else
            add_printed(out, form, shape, &kernel, way == 2);
        str_printf(
            out,
            "#undef RELU\nstatic void call_%d(const struct arguments *a)\n{\n    %s(%s %s);\n}\n",
            n, name, form->inputs, results(form, stores));
        str_printf(
            rows,
            "    { \"%s %s, %d x %d x %d%s: %s\", call_%d, %s, %d, %d, %d, %d, %d, %d, %d },\n",
            file_of(form),
            form->form.fetch == FETCH_PACED ? "paced"
            : form->form.fetch              ? "ahead"
                                            : "",
            shape->mr, shape->nr, shape->lanes, stores ? ", stores" : "", ways[way], n, form->name,
            shape->mr, shape->nr * shape->lanes, form->form.adds, stores, scales(form, stores),
            shape->lanes, form->splat ? shape->lanes : 1);
    }
}

static bool has_end(const struct form *form)
{
    return form->form.input != TILE_ROWS && !form->form.adds;
}

static const char *program(int lanes)
{
    struct str out = { .arena = &ctx->perm }, rows = { .arena = &ctx->perm };

    str_add(&out, prelude);
    for (int bits = 4; bits <= 16; bits *= 2)
        str_printf(&out, "typedef int int%d __attribute__((vector_size(%d)));\n", bits, bits * 4);
    for (int i = 0; i < N_FORMS; i++)
        for (int k = 0; k < N_SHAPES; k++)
            for (int stores = 0; stores <= has_end(&forms[i]); stores++)
                if (shapes[k].lanes == lanes)
                    add_tile(&out, &rows, &forms[i], &shapes[k], stores);
    str_printf(&out,
               "static const struct tile tiles[] = {\n%s};\nint main(void)\n{\n    return "
               "check_all(tiles, "
               "sizeof tiles / sizeof *tiles);\n}\n",
               str_text(&rows));
    return str_text(&out);
}

/* --- tests ------------------------------------------------------------------------------------ */

static const struct build {
    const char *compiler, *emulator, *feature;
    int lanes;
} builds[] = {
    { "gcc -O2", "", "", 1 },
    { "gcc -O2", "", "", 4 },
    { "clang -O1", "", "", 4 },
    { "gcc -O2 -mavx2 -mfma", "", "avx2", 8 },
    { "clang -O1 -mavx2", "", "avx2", 8 },
    { "gcc -O1 -march=x86-64-v4", "", "avx512", 16 },
    { "gcc -O0 -fsanitize=address,undefined", "", "", 4 },
    { "aarch64-linux-gnu-gcc -O1 -static", "qemu-aarch64", "", 4 },
    { "riscv64-linux-gnu-gcc -O1 -static", "qemu-riscv64", "", 1 },
};

static bool runs_here(const struct build *build)
{
#if defined __x86_64__
    if (strcmp(build->feature, "avx512") == 0)
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return !*build->feature || __builtin_cpu_supports("avx2");
#else
    return !*build->feature;
#endif
}

START_TEST(microkernels_compute_what_naive_loops_do)
{
    const struct build *build = &builds[_i];
    const char *text = program(build->lanes);
    const char *source = temp_file(&dir, "program.c", text, strlen(text));
    const char *binary = temp_path(&dir, "program");
    /* Vectors that are not here are taken apart. */
    const char *compiler = runs_here(build) ? build->compiler : "gcc -O1";

    ck_assert_int_eq(
        system(arena_printf(&ctx->perm, "%s" STRICT "-I. -o %s %s", compiler, binary, source)), 0);
    ck_assert_int_eq(system(arena_printf(&ctx->perm, "%s %s", build->emulator, binary)), 0);
}
END_TEST

/* With the plainest text of each word, which microkernel.h has. */
START_TEST(files_compile_as_they_are)
{
    const struct shape *shape = &shapes[_i];

    ck_assert_int_eq(system(arena_printf(&ctx->perm,
                                         "for file in " FOLDER "*.c; do gcc -fsyntax-only" STRICT
                                         "-DMR=%d -DNR=%d -DLANES=%d $file || exit 1; done",
                                         shape->mr, shape->nr, shape->lanes)),
                     0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("microkernels");
    TCase *tcase = tcase_create("tiles");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, microkernels_compute_what_naive_loops_do, 0,
                        sizeof builds / sizeof *builds);
    tcase_add_loop_test(tcase, files_compile_as_they_are, 0, N_SHAPES);
    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
