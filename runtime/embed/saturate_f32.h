#include "runtime/embed/choose_f32.h"

/* v clamped to least .. greatest; NaN becomes 0. */
static float saturate_f32(float v, float least, float greatest)
{
#if defined __AVX2__ || defined __aarch64__ || defined __riscv_vector
    /* Without branches, so that loops around it are vectorised. NaN becomes least at first. */
    const float up = choose_f32(v > least, v, least), within = choose_f32(up < greatest, up, greatest);

    return choose_f32((v <= v) | ((least >= 0.0f) & (least <= 0.0f)), within, 0.0f);
#else
    if (!(v <= v))
        return 0.0f;
    return v < least ? least : choose_f32(v > greatest, greatest, v);
#endif
}
