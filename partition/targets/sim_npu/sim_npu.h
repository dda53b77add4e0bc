/* sim_npu.h - a sample accelerator, in software: what NAME_sim_npu.c calls, and its command stream.
 *
 * An 8 x 8 array multiplies 8-bit numbers (FP8 E4M3 or E5M2, int8); a vector unit of 8 lanes does
 * the rest in f32 and i32. Both work on 192 KiB of on-chip memory (SRAM) only; a DMA engine moves
 * data between it and the host. The simulator checks every address and size of a stream, and counts
 * what it does. docs/guide/sim_npu.md is the manual.
 *
 * A stream is a header, commands and constants, in 32-bit little-endian words:
 *   word 0 magic "SNPU"   1 version   2 inputs   3 outputs   4 words of commands   5 bytes of
 * constants 6 bytes of SRAM used  7 bytes of host scratch  8 CRC-32 (as in zip) of all behind the
 * header then the commands, the last one SIM_NPU_END, then the constants. A command is one word
 * opcode | words << 8 (the word itself included), then its operands. Addresses are byte offsets in
 * SRAM, multiples of 16. */
#ifndef SIM_NPU_H
#define SIM_NPU_H

#include <stdint.h>

enum {
    SIM_NPU_MAGIC = 0x55504E53, /* the bytes S N P U */
    SIM_NPU_VERSION = 1,
    SIM_NPU_HEADER_WORDS = 9,
    SIM_NPU_SRAM_BYTES = 192 * 1024,
    SIM_NPU_ALIGN = 16
};

enum sim_npu_opcode {
    SIM_NPU_END = 0,
    /* space | index << 8, offset in it, address, bytes. LOAD from constants, inputs, scratch; STORE
     * to outputs, scratch. */
    SIM_NPU_LOAD,
    SIM_NPU_STORE,
    /* x, w, y, format of x | of w << 8, batch, in_c, in_h, in_w, out_c, out_h, out_w, kernel h, w,
     * stride h, w, padding top, left, dilation h, w, groups, zero point of x, of w (int8). x is
     * [batch][in_c][in_h][in_w], w [out_c][in_c / groups][kernel h][w]. y: f32, or i32 for int8.
     * FP8 products are exact and summed in f64; i32 wraps. Padding counts as x's zero point. */
    SIM_NPU_CONV,
    /* y, vector, batch, channels, inner, what: y[batch][channels][inner] op= vector[channels] */
    SIM_NPU_CHANNEL,
    SIM_NPU_ADD,   /* a, b, y, n: f32 */
    SIM_NPU_CLAMP, /* y, n, format (f32, i8), least, greatest (bits of f32, or an integer) */
    /* x, y, n, format of x, of y: f32 and FP8; to FP8 to nearest even, saturated */
    SIM_NPU_CONVERT,
    /* x (i32), y (i8), batch, channels, inner, table, its rows (1 or channels), zero of x, of y. A
     * row is multiplier, shift: multiplier * 2^(shift - 31), rounded as the int8 kernels of relayc
     * do. */
    SIM_NPU_REQUANTIZE,
    /* a, b, y (i8), n, left shift, multiplier and shift of a, of b, of the sum, zero of a, b, y */
    SIM_NPU_ADD_I8,
    /* x, y, format (f32, i8, FP8), planes, in_h, in_w, out_h, out_w, kernel h, w, stride h, w,
     * padding top, left */
    SIM_NPU_MAX_POOL,
    SIM_NPU_OPCODES
};

enum sim_npu_space { SIM_NPU_CONSTANTS, SIM_NPU_INPUT, SIM_NPU_OUTPUT, SIM_NPU_SCRATCH };

enum sim_npu_format { SIM_NPU_E4M3, SIM_NPU_E5M2, SIM_NPU_I8, SIM_NPU_F32 };

enum sim_npu_channel { SIM_NPU_MUL_F32, SIM_NPU_ADD_F32, SIM_NPU_ADD_I32 };

enum sim_npu_result {
    SIM_NPU_OK = 0,
    SIM_NPU_BAD_STREAM,    /* header, checksum, or an unknown or cut command */
    SIM_NPU_BAD_INTERFACE, /* inputs, outputs or scratch are not what the stream was made for */
    SIM_NPU_BAD_ADDRESS,   /* beyond the SRAM, a host buffer, or not aligned */
    SIM_NPU_BAD_OPERAND,
    SIM_NPU_NO_MEMORY
};

struct sim_npu_statistics {
    uint64_t streams, commands, cycles, macs, bytes_loaded, bytes_stored;
};

/* Where counts are added; NULL (as it begins) = nobody looks. Not for several threads. */
extern struct sim_npu_statistics *sim_npu_watch;

/* One host buffer. */
struct sim_npu_buffer {
    void *data; /* of inputs only read */
    uint32_t bytes;
};

enum sim_npu_result sim_npu_execute(const uint8_t *stream, uint32_t stream_bytes,
                                    const struct sim_npu_buffer *inputs, uint32_t n_inputs,
                                    const struct sim_npu_buffer *outputs, uint32_t n_outputs,
                                    void *scratch, uint32_t scratch_bytes);

#endif
