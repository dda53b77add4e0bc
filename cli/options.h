/* options.h - the command line: commands.def and options.def as tables, parsed arguments. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/ctx.h"

enum command {
#define COMMAND(symbol, name, operands, least, most, summary) COMMAND_##symbol,
#include "cli/commands.def"
#undef COMMAND
    COMMAND_COUNT
};

enum option_id {
#define OPTION(symbol, name, letter, argument, commands, help) OPTION_##symbol,
#include "cli/options.def"
#undef OPTION
    OPTION_COUNT
};

/* The values of one option, in the order given. A flag's value is "". */
struct option_values {
    int n;
    const char **at;
};

struct arguments {
    enum command command; /* COMMAND_COUNT = none given */
    int n_operands;
    const char **operands;
    struct option_values options[OPTION_COUNT];
};

/* False after USAGE errors; all of them are found in one go. */
bool arguments_parse(struct ctx *ctx, int argc, char **argv, struct arguments *out);

bool has_option(const struct arguments *args, enum option_id option);

const char *option_name(enum option_id option); /* "keep-f32" */

/* The last value given, or `missing`. */
const char *option_text(const struct arguments *args, enum option_id option, const char *missing);

/* A number of at least `least`; a USAGE error and false when it is not one. */
bool option_real(struct ctx *ctx, const struct arguments *args, enum option_id option,
                 double missing, double *out);
bool option_integer(struct ctx *ctx, const struct arguments *args, enum option_id option,
                    long long missing, long long *out);

/* A number of bytes: digits, and K, M or G behind them for powers of 1024 ("64K", also "64KB" and
 * "64KiB"). A USAGE error and false for anything else. */
bool option_bytes(struct ctx *ctx, const struct arguments *args, enum option_id option,
                  size_t missing, size_t *out);

/* "64K", "1.5M", "1000": as option_bytes reads; false if it is not that. Fractions come with a
 * suffix only. */
bool parse_bytes(const char *text, size_t *out);

const char *bytes_text(struct arena *arena, size_t bytes); /* "64K" where it is so, else digits */

/* One of `words` (NULL-terminated): its index. A USAGE error and false for anything else. */
bool option_word(struct ctx *ctx, const struct arguments *args, enum option_id option,
                 const char *const *words, int missing, int *out);

void print_overview(FILE *out); /* relayc without a command */
void print_command_help(FILE *out, enum command command);
const char *command_name(enum command command);

#endif
