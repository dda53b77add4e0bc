#ifndef EMBED_TURNS_F32_H
#define EMBED_TURNS_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/inline_f32.h"

/* Range reduction: |v| * 2 / pi modulo 4, in 2^-62, that is, in quarters of a turn. Numbers below 1/2 give 0;
 * infinity and NaN give anything.
 *
 * |v| = m * 2^(s - 24), m < 2^32, s a multiple of 8. Of 2 / pi only the 96 bits that the product needs are read:
 * those before give multiples of 4, those behind less than 2^-62 (Payne and Hanek 1983). No f32 >= 1/2 is closer
 * to a multiple of pi / 2 than 2^-29 of it. */
INLINE_F32 uint64_t turns_f32(float v)
{
    const uint32_t bits = f32_bits(v) & 0x7fffffffu, from_1 = (0x3f7fffffu - bits) >> 31;
    const uint32_t s = ((bits >> 23) - 127) & (0u - from_1);
    const uint32_t fraction = ((bits & 0x7fffffu) | 0x800000u) & (0u - ((0x3effffffu - bits) >> 31));
    const uint32_t m = fraction << from_1 << (s & 7);
#if defined __AVX2__ || defined __aarch64__ || defined __riscv_vector
    /* With vectors, selecting words is faster than reading them from 16 addresses. */
    const uint32_t far = 0u - (s >> 6 & 1), odd = 0u - (s >> 5 & 1), shift = s & 24;
    const uint32_t a = 0x28u ^ (far & (0x28u ^ 0x91054a7fu));
    const uint32_t b = 0xbe60db93u ^ (far & (0xbe60db93u ^ 0x09d5f47du));
    const uint32_t c = 0x91054a7fu ^ (far & (0x91054a7fu ^ 0x4d377036u));
    const uint32_t d = 0x09d5f47du ^ (far & (0x09d5f47du ^ 0xd8a5664fu));
    const uint32_t e = 0x4d377036u ^ (far & (0x4d377036u ^ 0x10e4107fu));
    const uint32_t w0 = a ^ (odd & (a ^ b)), w1 = b ^ (odd & (b ^ c));
    const uint32_t w2 = c ^ (odd & (c ^ d)), w3 = d ^ (odd & (d ^ e));
    const uint32_t high = w0 << shift | w1 >> 1 >> (31 - shift);
    const uint32_t middle = w1 << shift | w2 >> 1 >> (31 - shift);
    const uint32_t low = w2 << shift | w3 >> 1 >> (31 - shift);
#else
    static const uint32_t words[] = { /* each starts 8 bits further on */
        0x00000028u, 0x000028beu, 0x0028be60u, 0x28be60dbu, 0xbe60db93u, 0x60db9391u,
        0xdb939105u, 0x9391054au, 0x91054a7fu, 0x054a7f09u, 0x4a7f09d5u, 0x7f09d5f4u,
        0x09d5f47du, 0xd5f47d4du, 0xf47d4d37u, 0x7d4d3770u, 0x4d377036u, 0x377036d8u,
        0x7036d8a5u, 0x36d8a566u, 0xd8a5664fu, 0xa5664f10u, 0x664f10e4u, 0x4f10e410u
    };
    const uint32_t high = words[s >> 3 & 15], middle = words[(s >> 3 & 15) + 4], low = words[(s >> 3 & 15) + 8];
#endif

    return ((uint64_t)(m * high) << 32) + (uint64_t)m * middle + ((uint64_t)m * low >> 32);
}

#endif
