/* machine.h - the CPU that the generated C is written for (--target), as a row of data.
 *
 * Backends (partition/) take regions away; a CPU only shapes our own kernels. C for any CPU is
 * valid C99 that every compiler builds; on another CPU it is merely slower. */
#ifndef CODEGEN_C_MACHINE_MACHINE_H
#define CODEGEN_C_MACHINE_MACHINE_H

#include "base/ctx.h"

enum machine_arch {
    ARCH_ANY,
    ARCH_AARCH64,
    ARCH_ARM, /* Armv7-A and all Cortex-M */
    ARCH_RISCV32,
    ARCH_RISCV64,
    ARCH_WASM32,
    ARCH_X86_64
};

/* Dot products of small integers. C that uses them is guarded by compiler macros all the same. */
enum machine_dot {
    DOT_NONE,
    DOT_VNNI,  /* x86: four u8 * s8 into 32 bits, in each lane */
    DOT_AMX,   /* the same, and matrix products of up to 16 x 64 by 64 x 16 */
    DOT_SDOT,  /* Arm: four s8 * s8, or u8 * u8 */
    DOT_SMLAD, /* Cortex-M: two s16 * s16 */
    DOT_MVE    /* Helium: sixteen s8 * s8 into one sum */
};

/* Whether the FPU has pipes for additions that FMAs leave idle; and how these best read a scalar
 * that all lanes share. */
enum machine_adders {
    ADDERS_NONE,
    ADDERS_MEMORY,   /* as a memory operand: a load into a register would take one of the pipes */
    ADDERS_REGISTERS /* from a register, loaded once: the CPU begins at most half as many loads
                        as additions and products */
};

struct machine {
    const char *name; /* the name that --target takes */
    enum machine_arch arch;
    int lanes;     /* f32 lanes of a vector: 1 = scalar, 0 = chosen by compiler macros (#if) */
    int registers; /* vector registers, or f32 registers if lanes is 1; 0 = none, or unknown */
    bool fpu;      /* f32 in hardware */
    bool fma;
    enum machine_adders adders;
    enum machine_dot dot;
    /* AVX512_BF16 and AVX512_VBMI: an instruction adds two bf16 products to each f32 lane, one
     * after the other, rounding each; and looks up tables of 128 bytes by vectors. */
    bool bf16;
    size_t l1_bytes, l2_bytes; /* data caches; 0 = none */
    bool far_l3; /* slow L3: a core gets a sixth of the L2's bandwidth from it, or less */
    /* The best register tile of a matrix product: vectors (scalars if lanes is 1) of output
     * channels by pixels. 0 x 0 = chosen by compiler macros. */
    int tile_vectors, tile_columns;
    const char *flags;       /* for gcc and clang; "" = their defaults */
    const char *description; /* one line, for `relayc targets` */
};

extern const struct machine machines[]; /* n_machines rows; the first is "generic" */
extern const size_t n_machines;

/* The name: "vnni", "none". */
const char *machine_dot_name(enum machine_dot dot);

/* The CPU that this process runs on: the strongest row whose instructions it has. */
const struct machine *machine_host(void);

/* The row of that name; "host" is machine_host(). NULL after a USAGE error that lists all names. */
const struct machine *machine_find(struct ctx *ctx, const char *name);

/* Whether it is a PC or server: vectors of a fixed length, an L2, and a stack that allows 128 KiB
 * per function. Not WebAssembly, whose linkers give the whole stack 64 KiB. */
/* A processor for firmware, whose code lies in flash: Cortex-M, 32-bit RISC-V. */
bool machine_is_microcontroller(const struct machine *machine);

bool machine_has_deep_stack(const struct machine *machine);

/* Whether it has AMX: matrix products of bytes and of bf16 in registers of 16 x 64 bytes. */
bool machine_has_amx(const struct machine *machine);

/* The alignment that the arena is asked for, in bytes: a vector's size, at least 16. Vectors that
 * cross a cache line take two accesses (docs/lab/kernels.md). */
int machine_alignment(const struct machine *machine);

/* 32-bit lanes of its integer vectors, if there are kernels for these; else 0. */
int machine_integer_lanes(const struct machine *machine);

/* Whether no compiler for this CPU defines the macro (__AVX2__ on a Cortex-M), so that code under
 * it is dead. False if that is not known. */
bool machine_never_defines(const struct machine *machine, const char *macro);

/* Whether a compiler with the CPU's flags defines the macro; false: unknown. */
bool machine_defines(const struct machine *machine, const char *macro);

/* Whether compilers define the macro for the instructions that some CPUs of an architecture have. */
bool macro_is_of_instructions(const char *macro);

/* Compiler flags of a CPU whose code runs in this process, else "". CPUs stand in each
 * architecture's order of strength; on x86-64 the instructions are queried. */
const char *machine_flags_here(const struct machine *machine);

#endif
