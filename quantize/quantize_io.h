/* quantize_io.h - small numbers at the interface of a network. */
#ifndef QUANTIZE_QUANTIZE_IO_H
#define QUANTIZE_QUANTIZE_IO_H

#include "relay_ir/ir.h"

/* Parameters of main that are quantized before anything else is done with them, and always in the
 * same way, become parameters of that type; results that are dequantized numbers become the numbers
 * before. What may stand between is what only moves numbers. Their types say scale and zero point
 * (QTYPE_SCALED), of which NAME.h makes macros. For graphs behind fake_quant_to_integer, before
 * fuse_ops. Returns how many f32 parameters and results are left as they were: the caller may say
 * which, they are still f32. -1 after an error. */
int quantize_io(struct module *module);

#endif
