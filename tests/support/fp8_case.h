/* fp8_case.h - targets that take small floats, and the step annotate_fp8 alone, for its tests. */
#ifndef TESTS_SUPPORT_FP8_CASE_H
#define TESTS_SUPPORT_FP8_CASE_H

#include "partition/annotate_fp8.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))
#define BIT(dtype) ((uint64_t)1 << DTYPE_##dtype)
#define FORM                                                                                       \
    "strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "           \
    "kernel_layout=\"OIHW\""
#define CONV "{" FORM "}"
#define CONV8 "{" FORM ", out_dtype=f32}"
#define CAST "{dtype=f8e4m3, saturate=true}"
#define POOL                                                                                       \
    "{pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1], ceil_mode=false, "        \
    "count_include_pad=false, p=0, storage_order=0, layout=\"NCHW\"}"

/* A graph of one dense layer. */
#define DENSE_OF(weight)                                                                           \
    "fn main(%x: (1,2) f32) -> (%d) {\n"                                                           \
    "  const @w : (1,2) f32 = " weight "\n"                                                        \
    "  %d = nn.dense(%x, @w) : (1,1) f32\n"                                                        \
    "}\n"

/* Takes every product with scales and max_pool2d; conv2d only, without scales; what others lack;
 * as fp8_all, with conv2d kept on the host. Made by fp8_set_up, a fixture. */
extern struct target fp8_host, fp8_all, fp8_conv_only, fp8_poor, fp8_keeping;
void fp8_set_up(void);

/* The steps before the regions, on a module. The result owns what the report says. */
struct fp8_run {
    struct targets targets;
    struct partition_options options;
    const struct target *offload[2];
    struct partition *partition;
};

void fp8_run_open(struct fp8_run *run, struct module *module, enum dtype format,
                  const struct target *first, const struct target *second);

/* Fails the test when the module's text is not this one's. */
void fp8_expect_graph(struct module *module, const char *wanted);

#endif
