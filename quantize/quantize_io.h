/* quantize_io.h - quantised inputs and outputs of a network. */
#ifndef QUANTIZE_QUANTIZE_IO_H
#define QUANTIZE_QUANTIZE_IO_H

#include "relay_ir/ir.h"

/* Gives parameters that are only ever quantised, in one way, the quantised type, and results that
 * are dequantised values the type before it; operators that only move values may be between. Scale
 * and zero point become QTYPE_SCALED, of which NAME.h makes macros. Call after
 * fake_quant_to_integer, before fuse_ops. Returns the number of parameters and results that stay
 * f32; -1 after an error. */
int quantize_io(struct module *module);

#endif
