/* signature.h - what a region computes, as text that is the same for all regions for which the same
 * code is best: operators, shapes, element types and layouts; no names, no numbers of constants.
 *
 *   nn.conv2d(p0 f32[1,28,28,64], c f32[64,64,3,3]) {strides=[1,1], ...}; add(_, c f32[64,1,1]);
 *   nn.relu(_)
 *
 * c is a constant, p0 a parameter of the region, _ what the operator before gives, _k the output of
 * operator k otherwise. Attributes are those of operators that are not element-wise. A tuning log
 * is only as stable as this text: a change of it makes logs stale. */
#ifndef CODEGEN_C_SELECT_SIGNATURE_H
#define CODEGEN_C_SELECT_SIGNATURE_H

#include "relay_ir/ir.h"

const char *region_signature(struct arena *arena, const struct function *region);

#endif
