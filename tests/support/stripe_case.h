/* stripe_case.h - regions that are computed in stripes, against the same layer by layer. */
#ifndef TESTS_SUPPORT_STRIPE_CASE_H
#define TESTS_SUPPORT_STRIPE_CASE_H

#include "codegen_c/codegen.h"
#include "relay_ir/interpret.h"

/* Flags of gcc for the generated C: all warnings, and traps for undefined behaviour. */
#define STRIPE_FLAGS                                                                               \
    "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-conversion -Wdouble-promotion -Wvla "   \
    "-Werror -O1 -fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error"

/* Parts of a graph's text. */
#define CONV(strides, padding, dilation, groups)                                                   \
    "{strides=[" strides "], padding=[" padding "], dilation=[" dilation "], groups=" groups ", "  \
    "data_layout=\"NHWC\", kernel_layout=\"OIHW\"} "
#define SAME CONV("1,1", "1,1,1,1", "1,1", "1")
#define POINT CONV("1,1", "0,0,0,0", "1,1", "1")
#define POOL(size, strides, padding, ceil, count)                                                  \
    "{pool_size=[" size "], strides=[" strides "], padding=[" padding "], dilation=[1,1], "        \
    "ceil_mode=" ceil ", count_include_pad=" count ", p=0, storage_order=0, layout=\"NHWC\"} "
#define HEAD(type) "fn main(%x: " type " f32) -> (%y) {\n"
#define WEIGHT(name, shape) "  const @" name " : (" shape ") f32 = crc32:00000000\n"

/* 1x1, depthwise, 1x1, and the input added. */
#define INVERTED_RESIDUAL                                                                          \
    HEAD("(1,13,8,8)")                                                                             \
    WEIGHT("w", "24,8,1,1")                                                                        \
    WEIGHT("d", "24,1,3,3")                                                                        \
    WEIGHT("v", "8,24,1,1")                                                                        \
    "  %a = nn.conv2d(%x, @w) " POINT ": (1,13,8,24) f32\n"                                        \
    "  %r = nn.relu(%a) : (1,13,8,24) f32\n"                                                       \
    "  %b = nn.conv2d(%r, @d) " CONV("1,1", "1,1,1,1", "1,1",                                      \
                                     "24") ": (1,13,8,24) f32\n"                                   \
                                           "  %c = nn.conv2d(%b, @v) " POINT ": (1,13,8,8) f32\n"  \
                                           "  %y = add(%c, %x) : (1,13,8,8) f32\n}\n"

/* Writes the files of "net" into the folder, for an arena of `ram` bytes; 0 = any. */
struct codegen_result stripe_generate(struct module *module, const char *dir, size_t ram);

/* The same in a folder for a while, built and run. */
struct codegen_result stripe_run(struct module *module, size_t ram, const struct tensor *inputs,
                                 struct tensor *outputs, struct bulk *bulk);

/* Both have the same bits. */
void stripe_check_bits(const struct tensor *a, const struct tensor *b, const char *what);

/* All regions of main from `first` to `last` in this many parts: the same bits, and what the
 * reference gives. */
void stripe_check_parts(const char *text, int first, int last, int64_t parts);

#endif
