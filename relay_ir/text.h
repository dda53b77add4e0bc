/* text.h - the graph as text: printed for people, parsed back by tests. Grammar: docs/design/ir.md.
 *
 *   module opset 13
 *
 *   fn main(%data: (1,3,224,224) f32) -> (%out as "output") {
 *     const @conv1.weight : (64,3,7,7) f32 = crc32:9f2c11aa
 *     const @axis : () i64 = [1]
 *     %c1 = nn.conv2d(%data, @conv1.weight) {strides=[2,2], ...} : (1,64,112,112) f32  from Conv
 * "conv1" #0
 *     ...
 *   }
 *
 * Names other than [A-Za-z0-9_.:/-]+ are quoted: %"strange name". Absent inputs are `_`. Constants
 * of at most 16 elements are written in full, uniform ones as [0, ...], others by checksum. */
#ifndef RELAY_IR_TEXT_H
#define RELAY_IR_TEXT_H

#include "base/str.h"
#include "relay_ir/ir.h"

void module_print(const struct module *module, struct str *out);
void function_print(const struct function *fn, struct str *out);
void node_print(const struct node *node, struct str *out);

/* Parses a module. Payloads given by checksum are borrowed from `payloads` (matched by checksum and
 * type, a constant of that name preferred), which must outlive the result. A missing one is an
 * error, or zeros with zero_missing (tests). NULL after an error with line and column. */
struct module *module_parse(struct ctx *ctx, const char *text, const struct module *payloads,
                            bool zero_missing);

#endif
