/* lanes.c - see lanes.h. */
#include "codegen_c/expr/lanes.h"

#include <string.h>

/* X of "($t)clamp_int(X, least, most)" with the limits of the result's type: vector stores
 * saturate. */
static const char *without_clamp(struct arena *arena, const char *text)
{
    static const char *const clamps[] = { "($t)clamp_int(", "($t)saturate_int(" };
    const char *const most = strrchr(text, ','), *end = most;
    const int i = str_starts(text, clamps[1]);

    if (!str_starts(text, clamps[i]) || !most)
        return text;
    while (*--end != ',')
        continue;
    text += strlen(clamps[i]);
    return arena_strndup(arena, text, (size_t)(end - text));
}

const char *lanes_text(struct arena *arena, const char *text, int n, bool is_stored, bool from_0)
{
    const struct {
        const char *of_one, *of_lanes;
    } words[] = { { "($t)", "" },
                  { "(int64_t)", "" },
                  { "requantize_down(", from_0 ? "requantize_from_0(" : "requantize(" },
                  { "requantize(", "requantize_any(" },
                  { "requantize_even(", "requantize_even(" },
                  { "clamp_int(", "clamp(" },
                  { "saturate_int(", "clamp(" } };
    enum { N_WORDS = sizeof words / sizeof *words };
    struct str out = { .arena = arena };

    if (is_stored)
        text = without_clamp(arena, text);
    while (*text) {
        int i = 0;

        while (i < N_WORDS && !str_starts(text, words[i].of_one))
            i++;
        if (i == N_WORDS) {
            str_addn(&out, text++, 1);
            continue;
        }
        if (*words[i].of_lanes)
            str_printf(&out, "i32x%d_%s", n, words[i].of_lanes);
        text += strlen(words[i].of_one);
    }
    return str_text(&out);
}

void bind_lanes(struct bind *bind, int n)
{
    const char *name = arena_printf(bind->arena, "i32x%d_requantized", n);
    struct keys keys;

    bind_include(bind, "stdint.h");
    bind_include(bind, "string.h");
    if (bind_own_helper(bind, name))
        return;
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "n", n);
    keys_set_int(&keys, "bytes", 4 * n);
    keys_set_int(&keys, "bits", 32 * n);
    keys_offer(&keys, "mm", n == 16 ? "_mm512" : "_mm256");
    keys_offer(&keys, "x", n == 16 ? "" : "x");
    keys_set_flag(&keys, "x86", n > 4);
    keys_set_flag(&keys, "n16", n == 16);
    keys_set_flag(&keys, "n8", n == 8);
    keys_set_flag(&keys, "n4", n == 4);
    for (int i = 0; i < 2; i++) {
        const char *sign = i ? "u" : "";

        keys_set(&keys, arena_printf(bind->arena, "byte%d", i), i ? "u8" : "i8");
        keys_set(&keys, arena_printf(bind->arena, "byte%d_t", i),
                 arena_printf(bind->arena, "%sint8_t", sign));
        keys_offer(&keys, arena_printf(bind->arena, "wide%d", i), i ? "u32" : "s32");
        keys_offer(&keys, arena_printf(bind->arena, "wide%d_t", i),
                   arena_printf(bind->arena, "%sint32x4_t", sign));
        keys_offer(&keys, arena_printf(bind->arena, "arm%d", i), i ? "u8" : "s8");
        keys_offer(&keys, arena_printf(bind->arena, "half%d", i), i ? "u16" : "s16");
        keys_offer(&keys, arena_printf(bind->arena, "narrow%d", i),
                   i ? "vqmovun_s16" : "vqmovn_s16");
        keys_offer(&keys, arena_printf(bind->arena, "least%d", i), i ? "0" : "-128");
        keys_offer(&keys, arena_printf(bind->arena, "most%d", i), i ? "255" : "127");
        keys_offer(
            &keys, arena_printf(bind->arena, "saturated%d", i),
            i ? "_mm512_cvtusepi32_epi8(_mm512_max_epi32((__m512i)x, _mm512_setzero_si512()))"
              : "_mm512_cvtsepi32_epi8((__m512i)x)");
        keys_offer(&keys, arena_printf(bind->arena, "signed%d", i), i ? "_mm_xor_si128(" : "");
        keys_offer(&keys, arena_printf(bind->arena, "turn%d", i),
                   i ? ", _mm_set1_epi8(-128))" : "");
        keys_offer(&keys, arena_printf(bind->arena, "less%d", i), i ? " - 128" : "");
        keys_offer(&keys, arena_printf(bind->arena, "pack%d", i),
                   i ? "_mm_packus_epi16" : "_mm_packs_epi16");
    }
    bind_new_helper(bind, name, "templates/helpers/lanes_i32.c.tmpl", &keys);
}

/* Its own helper: few networks need it. */
static void bind_requantize_any(struct bind *bind, int n)
{
    const char *name = arena_printf(bind->arena, "i32x%d_requantized_any", n);
    struct keys keys;

    if (bind_own_helper(bind, name))
        return;
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "n", n);
    keys_set_int(&keys, "bytes", 4 * n);
    bind_new_helper(bind, name, "templates/helpers/lanes_requantize_any.c.tmpl", &keys);
}

/* For rounding "onnx". */
static void bind_requantize_even(struct bind *bind, int n)
{
    const char *name = arena_printf(bind->arena, "i32x%d_requantized_even", n);
    struct keys keys;

    bind_helper(bind, "requantize_even");
    if (bind_own_helper(bind, name))
        return;
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "n", n);
    keys_set_int(&keys, "bytes", 4 * n);
    keys_set_flag(&keys, "n16", n == 16);
    keys_set_flag(&keys, "n8", n == 8);
    keys_set_flag(&keys, "n4", n == 4);
    bind_new_helper(bind, name, "templates/helpers/lanes_requantize_even.c.tmpl", &keys);
}

void bind_lanes_of(struct bind *bind, int n, const char *text)
{
    bind_lanes(bind, n);
    if (strstr(text, "_requantize_even("))
        bind_requantize_even(bind, n);
    if (strstr(text, "_requantize_any("))
        bind_requantize_any(bind, n);
}
