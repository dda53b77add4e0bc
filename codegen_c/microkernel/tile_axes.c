/* tile_axes.c - see tile_axes.h. */
#include "codegen_c/microkernel/tile_axes.h"

enum {
    NEAR =
        12 /* paced prefetch into the L1 runs this many inputs ahead, where the L3 is slow: 8 to 16 are alike */
};

const char *tile_axes_file(const struct tile_axes *of)
{
    switch (of->form.input) {
    case TILE_POINTERS: return of->form.adds ? "tile_parts" : "tile_taps";
    case TILE_OFFSETS: return of->step ? "tile_steps" : "tile_offsets";
    case TILE_ROWS: break;
    }
    return "tile_rows";
}

/* What is prefetched for each input. */
static void set_fetch(const struct tile_axes *of, struct microkernel *kernel)
{
    const bool paced = of->form.fetch == FETCH_PACED, any = of->form.fetch != FETCH_NOTHING;
    const bool near = paced && of->form.input == TILE_POINTERS;

    axis_set(kernel, "FETCH_PARAMETERS",
             paced ? "const float *ahead, int fetch,"
             : any ? "const float *ahead,"
                   : "");
    axis_set(kernel, "FETCH", any ? "__builtin_prefetch(ahead, 0, 2);" : "");
    axis_set(kernel, "AND_AHEAD",
             paced ? ", ahead = &ahead[fetch]"
             : any ? arena_printf(kernel->axes.arena, ", ahead = &ahead[%d]", tile_line())
                   : "");
    axis_set(kernel, "FETCH_WEIGHT(v)",
             near ? arena_printf(
                        kernel->axes.arena,
                        "__builtin_prefetch(&w[%d * width + v * LANES], 0, 3); /* into the L1 */",
                        NEAR)
                  : "");
}

void tile_axes_set(const struct tile_axes *of, struct microkernel *kernel)
{
    axis_set(kernel, "LINKAGE", of->linkage);
    axis_set(kernel, "TILE", of->tile);
    axis_setf(kernel, "STEP", "%d", (int)of->step);
    axis_set(kernel, "LANES", of->lanes);
    axis_set(kernel, "VECTOR", of->vector);
    axis_set(kernel, "LONE", of->lone ? "(void)step;" : "");
    axis_set(kernel, "BEGIN(j, v)",
             of->form.adds ? "*(const VECTOR *)&sum[j * TILE + v * LANES]" : "(VECTOR){ 0 }");
    axis_set(
        kernel, "ADD(sum, x, w)",
        !of->fuse ? "sum += x * w;"
        : of->fuses_vectors
            ? arena_printf(kernel->axes.arena, "sum = %s(sum, x - (VECTOR){ 0 }, w);", of->fuse)
            : arena_printf(kernel->axes.arena, "sum = %s(sum, x, w);", of->fuse));
    set_fetch(of, kernel);
}

void tile_axes_set_sums(struct microkernel *kernel)
{
    axis_set(kernel, "RESULTS", "float *sum");
    axis_set(kernel, "N_PIXELS", "MR");
    axis_set(kernel, "FETCH_RESULT(j, v)", "");
    axis_set(kernel, "CHANNEL(v)", "");
    axis_set(kernel, "SHARED", "");
    axis_set(kernel, "END(j, v)", "*(VECTOR *)&sum[j * TILE + v * LANES] = sums[j][v];");
}

void tile_axes_set_end(const struct tile_end *end, struct microkernel *kernel)
{
    axis_set(kernel, "RESULTS", end->parameters);
    axis_set(kernel, "N_PIXELS", "n_pixels");
    axis_set(kernel, "FETCH_RESULT(j, v)", end->fetch);
    axis_set(kernel, "CHANNEL(v)", end->channel);
    axis_set(kernel, "SHARED", end->shared);
    axis_set(kernel, "END(j, v)", end->end);
}
