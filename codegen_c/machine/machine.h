/* machine.h - the processor that the generated C is written for (--target), as a row of data.
 *
 * Where an offload target (partition/) takes regions away, a machine only says how our own kernels
 * are shaped. C for any machine stays valid C99 that every compiler builds; on another processor it
 * is merely slower. */
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

/* Instructions that sum up products of small integers; C for them is guarded by the compiler's
 * macros all the same. */
enum machine_dot {
    DOT_NONE,
    DOT_VNNI,  /* x86: four u8 * s8 into 32 bits, in every lane */
    DOT_AMX,   /* the same, and products of matrices of up to 16 x 64 by 64 x 16 */
    DOT_SDOT,  /* Arm: four s8 * s8, or u8 * u8 */
    DOT_SMLAD, /* Cortex-M: two s16 * s16 */
    DOT_MVE    /* Helium: sixteen s8 * s8 into one sum */
};

/* Whether additions have units of their own beside those of products, which multiply-adds leave
 * idle; and where these units best take a number that all lanes share from. */
enum machine_adders {
    ADDERS_NONE,
    ADDERS_MEMORY,   /* from memory, as an operand: a load into a register takes one of the units */
    ADDERS_REGISTERS /* from a register, so that it is loaded once: no more loads are begun than
                        half as many as additions and products */
};

struct machine {
    const char *name; /* as --target says it */
    enum machine_arch arch;
    int lanes;     /* of a vector of f32: 1 = scalars, 0 = the C asks the compiler (#if) */
    int registers; /* for vectors, or for f32 where lanes is 1; 0 = none, or not known */
    bool fpu;      /* f32 is computed in hardware */
    bool fma;
    enum machine_adders adders;
    enum machine_dot dot;
    /* Each lane of f32 takes two products of bf16 by one instruction, one after the other, each
     * rounded; and tables of 128 bytes are looked up by vectors (AVX512_BF16, AVX512_VBMI). */
    bool bf16;
    size_t l1_bytes, l2_bytes; /* of data; 0 = no such cache */
    bool far_l3; /* the third cache gives a core a sixth of what the second does, or less */
    /* The best register block of a matrix product: vectors of outputs (where lanes is 1: outputs)
     * by pixels, or rows. 0 x 0 = as the compiler's macros say. */
    int tile_vectors, tile_columns;
    const char *flags;       /* of gcc and clang; "" = their defaults */
    const char *description; /* a line for people */
};

extern const struct machine machines[]; /* n_machines rows; the first is "generic" */
extern const size_t n_machines;

/* "vnni"; "none". */
const char *machine_dot_name(enum machine_dot dot);

/* The row that this process runs on, the strongest whose instructions are all there. */
const struct machine *machine_host(void);

/* The row of that name, or of machine_host() for "host". NULL after a USAGE error that lists all.
 */
const struct machine *machine_find(struct ctx *ctx, const char *name);

/* Whether it is a PC or the like: vectors of one length, a second cache, and a stack on which a
 * function may have 128 KiB. (Not that of WebAssembly, whose linkers give 64 KiB to all of it.) */
bool machine_has_deep_stack(const struct machine *machine);

/* Whether it has AMX: products of matrices of bytes, and of bf16, in registers of 16 x 64 bytes. */
bool machine_has_amx(const struct machine *machine);

/* How many bytes the arena's address is asked to be a multiple of: as many as a vector has, 16 at
 * least. Vectors that lie across two lines of the cache are read and written in two steps: 16 bytes
 * off, 512 bits, vww_mobilenetv1 takes 1.06 of its time (znver5). */
int machine_alignment(const struct machine *machine);

/* Lanes of 32 bits of its vectors of integers, where codegen_c writes such code for it; 0 = none.
 */
int machine_integer_lanes(const struct machine *machine);

/* No compiler for the machine defines this macro (__AVX2__ on a Cortex-M): what stands under it is
 * nothing to its reader. False where that is not known. */
bool machine_never_defines(const struct machine *machine, const char *macro);

/* The flags of a machine where code for it runs in this process' place, else "": machines stand in
 * their architecture's order of strength; on x86-64 it is asked for the instructions. */
const char *machine_flags_here(const struct machine *machine);

#endif
