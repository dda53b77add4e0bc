#include "bench/accuracy/configs.h"

#include <stddef.h>

/* "One scale" is that of the paper: the same rule for weights and data, one number for a tensor. */
#define PAPER "fp8, one rule for weights and data"
#define OURS "fp8, weights max per channel"
#define KEPT "fp8, what helps"
#define WEIGHTS "fp8, weights only"
#define INT8 "int8"
#define AFP "adaptive floating point weights"
#define MX "MX weights"
#define ROUNDING "rounding of weights"

#define BOTH(format, rule, shown)                                                                  \
    {                                                                                              \
        PAPER, format " " shown, "fp8=" format, .weight_scale = rule, .data_scale = rule           \
    }
#define ALL_RULES(format)                                                                          \
    BOTH(format, "1", "scale 1.0"), BOTH(format, "0.5", "scale 0.5"),                              \
        BOTH(format, "0.25", "scale 0.25"), BOTH(format, "0.2", "scale 0.2"),                      \
        BOTH(format, "0.1", "scale 0.1"), BOTH(format, "percentile", "percentile 99.99"),          \
        BOTH(format, "paper-percentile", "paper-percentile 99.99"),                                \
        BOTH(format, "search", "search")

/* Formats without a sign where data has none. */
#define UNSIGNED(shown, precision)                                                                 \
    { OURS, shown " max", precision, .data_scale = "max" },                                        \
        { OURS, shown " max, bias corrected", precision, .data_scale = "max",                      \
          .bias = BIAS_BY_DATA },                                                                  \
    {                                                                                              \
        OURS, shown " by auto, bias corrected", precision, .data_scale = "auto",                   \
                                                           .bias = BIAS_BY_DATA                    \
    }

#define INT8_RULE(rule)                                                                            \
    { INT8, "int8 " rule, "int8", .data_scale = rule },                                            \
    {                                                                                              \
        INT8, "int8 " rule ", bias corrected", "int8", .data_scale = rule, .bias = BIAS_BY_DATA    \
    }

/* Each way to round, alone, with corrected biases, and with equalised layers as well. */
#define ROUNDINGS(shown, precision, ...)                                                           \
    { ROUNDING, shown ", nearest", precision, .bias = BIAS_AS_IS, __VA_ARGS__ },                   \
        { ROUNDING, shown ", nearest, bias", precision, .bias = BIAS_BY_DATA, __VA_ARGS__ },       \
        { ROUNDING, shown ", adaround", precision, .round = ROUND_ADAROUND, __VA_ARGS__ },         \
        { ROUNDING,                                                                                \
          shown ", adaround, bias",                                                                \
          precision,                                                                               \
          .round = ROUND_ADAROUND,                                                                 \
          .bias = BIAS_BY_DATA,                                                                    \
          __VA_ARGS__ },                                                                           \
        { ROUNDING,         shown ", adaround, equalized, bias",                                   \
          precision,        .round = ROUND_ADAROUND,                                               \
          .equalize = true, .bias = BIAS_BY_DATA,                                                  \
          __VA_ARGS__ },                                                                           \
        { ROUNDING, shown ", gptq", precision, .round = ROUND_GPTQ, __VA_ARGS__ },                 \
        { ROUNDING,   shown ", gptq, bias", precision, .round = ROUND_GPTQ, .bias = BIAS_BY_DATA,  \
          __VA_ARGS__ },                                                                           \
    {                                                                                              \
        ROUNDING, shown ", gptq, equalized, bias", precision,                                      \
            .round = ROUND_GPTQ, .equalize = true, .bias = BIAS_BY_DATA, __VA_ARGS__               \
    }

const struct config accuracy_configs[] = {
    ALL_RULES("f8e4m3"),
    ALL_RULES("f8e5m2"),

    { OURS, "w f8e4m3, a f8e4m3 unit", "fp8=f8e4m3", .data_scale = "unit" },
    { OURS, "w f8e4m3, a f8e4m3 max", "fp8=f8e4m3", .data_scale = "max" },
    { OURS, "w f8e4m3, a f8e4m3 max, bias corrected", "fp8=f8e4m3", .data_scale = "max",
      .bias = BIAS_BY_DATA },
    { OURS, "w f8e3m4, a f8e4m3 max", "fp8=f8e3m4,f8e4m3", .data_scale = "max" },
    { OURS, "w f8e3m4, a f8e4m3 max, bias corrected", "fp8=f8e3m4,f8e4m3", .data_scale = "max",
      .bias = BIAS_BY_DATA },
    { OURS, "w f8e3m4, a f8e3m4 max", "fp8=f8e3m4", .data_scale = "max" },
    { OURS, "w f8e3m4, a f8e3m4 max, bias corrected", "fp8=f8e3m4", .data_scale = "max",
      .bias = BIAS_BY_DATA },

    { OURS, "w f8e4m3, a f8e4m3 auto, bias corrected", "fp8=f8e4m3", .data_scale = "auto",
      .bias = BIAS_BY_DATA },
    { OURS, "w f8e3m4, a f8e3m4 auto, bias corrected", "fp8=f8e3m4", .data_scale = "auto",
      .bias = BIAS_BY_DATA },

    UNSIGNED("w f8e2m5, a u8e2m6", "fp8=f8e2m5,u8e2m6"),
    UNSIGNED("w f8e3m4, a u8e3m5", "fp8=f8e3m4,u8e3m5"),
    UNSIGNED("w f8e4m3, a u8e4m4", "fp8=f8e4m3,u8e4m4"),
    UNSIGNED("w f8e2m5, a f8e2m5", "fp8=f8e2m5"),
    UNSIGNED("w auto, a auto", "fp8=auto"),

    { KEPT, "f8e4m3, bias data-free", "fp8=f8e4m3", .data_scale = "max", .bias = BIAS_DATA_FREE },
    { KEPT, "f8e4m3, equalized", "fp8=f8e4m3", .data_scale = "max", .equalize = true },
    { KEPT, "f8e4m3, first and last kept", "fp8=f8e4m3", .data_scale = "max", .keep_first = true,
      .keep_last = true },
    { KEPT, "f8e4m3, worst 5 kept", "fp8=f8e4m3", .data_scale = "max", .topk = 5 },
    { KEPT, "f8e3m4, equalized, bias corrected", "fp8=f8e3m4", .data_scale = "max",
      .equalize = true, .bias = BIAS_BY_DATA },
    { KEPT, "f8e3m4, worst 5 kept, bias corrected", "fp8=f8e3m4", .data_scale = "max", .topk = 5,
      .bias = BIAS_BY_DATA },

    { WEIGHTS, "fp8w f8e4m3", "fp8w=f8e4m3", .bias = BIAS_AS_IS },
    { WEIGHTS, "fp8w f8e4m3, bias corrected", "fp8w=f8e4m3", .bias = BIAS_BY_DATA },
    { WEIGHTS, "fp8w f8e4m3, bias data-free", "fp8w=f8e4m3", .bias = BIAS_DATA_FREE },
    { WEIGHTS, "fp8w f8e4m3, equalized", "fp8w=f8e4m3", .equalize = true },
    { WEIGHTS, "fp8w f8e3m4", "fp8w=f8e3m4", .bias = BIAS_AS_IS },
    { WEIGHTS, "fp8w f8e3m4, bias corrected", "fp8w=f8e3m4", .bias = BIAS_BY_DATA },

    INT8_RULE("max"),
    INT8_RULE("percentile"),
    INT8_RULE("kl"),
    INT8_RULE("auto"),
    { INT8, "int8 max, equalized", "int8", .data_scale = "max", .equalize = true },
    { INT8, "int8w", "int8w", .bias = BIAS_AS_IS },

    { AFP, "afp 8 bits", "afp=afp8", .bias = BIAS_AS_IS },
    { AFP, "afp 6 bits", "afp=afp6", .bias = BIAS_AS_IS },
    { AFP, "afp 6 bits, bias corrected", "afp=afp6", .bias = BIAS_BY_DATA },
    { AFP, "afp 5 bits", "afp=afp5", .bias = BIAS_AS_IS },
    { AFP, "afp 5 bits, bias corrected", "afp=afp5", .bias = BIAS_BY_DATA },

    { MX, "mxfp8", "mxfp8", .bias = BIAS_AS_IS },
    { MX, "mxfp6", "mxfp6", .bias = BIAS_AS_IS },
    { MX, "mxfp4", "mxfp4", .bias = BIAS_AS_IS },
    { MX, "mxfp4, bias corrected", "mxfp4", .bias = BIAS_BY_DATA },

    ROUNDINGS("round i4 weights", "int8w=i4", .weight_scale = "mse"),
    ROUNDINGS("round fp8 weights", "fp8w=f8e4m3", .weight_scale = "max"),
    ROUNDINGS("round int8", "int8", .data_scale = "max"),
    ROUNDINGS("round fp8", "fp8=f8e4m3", .data_scale = "max"),
    ROUNDINGS("round fp8=auto", "fp8=auto", .data_scale = "max"),
    ROUNDINGS("round afp6", "afp=afp6", .weight_scale = "max"),
};

const int n_accuracy_configs = sizeof accuracy_configs / sizeof *accuracy_configs;

static bool apply_rule(struct ctx *ctx, const char *text, struct scale_rule *rule)
{
    return !text || scale_rule_parse(text, rule) ||
           diag_error(ctx, DIAG_USAGE, NULL, "there is no scale rule '%s'", text);
}

bool config_apply(struct ctx *ctx, const struct config *config, struct quantize_options *options)
{
    struct precision *precision = &options->precision;

    if (!precision_parse(ctx, config->name, config->precision, precision) ||
        !apply_rule(ctx, config->weight_scale, &precision->weight_scale) ||
        !apply_rule(ctx, config->data_scale, &precision->data_scale))
        return false;
    precision->has_data_scale = config->data_scale != NULL;
    options->bias = config->bias;
    options->round = config->round;
    options->equalize = config->equalize;
    options->keep_first = config->keep_first;
    options->keep_last = config->keep_last;
    options->topk = config->topk;
    return true;
}
