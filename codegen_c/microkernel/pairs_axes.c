/* pairs_axes.c - see pairs_axes.h. */
#include "codegen_c/microkernel/pairs_axes.h"

const char *pairs_axes_file(const struct tile_axes *of)
{
    return of->step ? "tile_pairs_steps" : "tile_pairs";
}

void pairs_axes_set(const struct tile_axes *of, bool registers, struct microkernel *kernel)
{
    const bool rows = of->form.input == TILE_ROWS, ahead = of->form.fetch == FETCH_LINE;

    axis_set(kernel, "LINKAGE", of->linkage);
    axis_set(kernel, "TILE", of->tile);
    axis_setf(kernel, "STEP", "%d", (int)of->step);
    axis_set(kernel, "LANES", of->lanes);
    axis_set(kernel, "VECTOR", of->vector);
    axis_set(kernel, "LONE", of->lone ? "(void)step;" : "");
    axis_set(kernel, "X_PARAMETERS", rows ? "const float *x, int step" : "const float *const *x");
    axis_set(kernel, "PIXEL(j)", rows ? "&x[j * step]" : "x[j]");
    axis_set(kernel, "FETCH_PARAMETERS", ahead ? "const float *ahead," : "");
    axis_set(kernel, "FETCH",
             of->form.fetch == FETCH_NOTHING
                 ? ""
                 : arena_printf(kernel->axes.arena,
                                "for (int line = 0; line < 6; line++, ahead += %d) "
                                "__builtin_prefetch(ahead, 0, 2);",
                                tile_line()));
    axis_set(kernel, "PAIRS_DO(more)",
             registers
                 ? "do /* there is at least one pair; gcc -O3 spills less than in a while loop */"
                 : "while (more)");
    axis_set(kernel, "PAIRS_WHILE(more)", registers ? "while (more);" : "");
    axis_set(kernel, "INPUT(u, x)", registers ? "const VECTOR u = spread(&x);" : "");
    axis_set(kernel, "LOADED(u, x)", registers ? "u" : "&x");
}

void pairs_axes_set_sums(const struct tile_axes *of, struct microkernel *kernel)
{
    const bool rows = of->form.input == TILE_ROWS;

    axis_set(kernel, "RESULTS",
             rows ? "const float *scale, const float *back, float *sum" : "float *sum");
    axis_set(kernel, "SHARED", rows ? "READ_HERE(back)" : "");
    axis_set(kernel, "CHANNEL(v)",
             rows ? "const VECTOR scale##v = *(const VECTOR *)&scale[v * LANES] * *back;" : "");
    axis_setf(kernel, "END(j, v)", "*(VECTOR *)&sum[j * TILE + v * LANES] = sums[j][v]%s;",
              rows ? " * scale##v" : "");
}
