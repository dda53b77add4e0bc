/* options.h - commands.def and options.def as tables, and option values. The command line
 * (cli/options.h) and relayc_set (relayc.h) fill `struct arguments`. */
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/ctx.h"

enum command {
#define COMMAND(symbol, name, operands, least, most, summary) COMMAND_##symbol,
#include "driver/commands.def"
#undef COMMAND
    COMMAND_COUNT
};

enum option_id {
#define OPTION(symbol, name, letter, argument, commands, reader, help) OPTION_##symbol,
#include "driver/options.def"
#undef OPTION
    OPTION_COUNT
};

/* Sets of commands. */
enum {
#define COMMAND(symbol, name, operands, least, most, summary) C_##symbol = 1 << COMMAND_##symbol,
#include "driver/commands.def"
#undef COMMAND
    C_ANALYSES = C_ANALYZE | C_DIFF | C_REPORT, /* they compile if they are given a model */
    C_MODEL = C_ANALYSES | C_BENCH | C_COMPARE | C_COMPILE | C_EVAL | C_INSPECT | C_RUN |
              C_TARGETS | C_TUNE | C_VERIFY,
    C_ANY = (1 << COMMAND_COUNT) - 1
};

/* Reader of an option: the driver (and so relayc_set accepts it), or cli/ only. */
enum option_reader { READ_BY_DRIVER, READ_BY_CLI };

struct command_row {
    const char *name, *operands;
    int least, most; /* operands */
    const char *summary;
};

struct option_row {
    const char *name;
    char letter;          /* 0 = none */
    const char *argument; /* as in --help; NULL: a flag */
    int commands;         /* C_... */
    enum option_reader reader;
    const char *help; /* but see option_help */
};

extern const struct command_row command_rows[COMMAND_COUNT];
extern const struct option_row option_rows[OPTION_COUNT];

const char *option_group(enum option_id option); /* title in --help: "Memory" */

/* What the option means to a command. */
const char *option_help(enum option_id option, enum command command);

/* Words that the option takes, separated by spaces (option_choices.def); NULL: it takes others. */
const char *option_choices(enum option_id option);

/* Former names of options (aliases.def): accepted, not listed. */
enum {
#define ALIAS(symbol, name) ALIAS_##symbol,
#include "driver/aliases.def"
#undef ALIAS
    ALIAS_COUNT
};

struct option_alias {
    const char *name;
    enum option_id option;
};

extern const struct option_alias option_aliases[ALIAS_COUNT];

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

bool has_option(const struct arguments *args, enum option_id option);

const char *option_name(enum option_id option); /* "keep-f32" */

/* Last value given, or `missing`. */
const char *option_text(const struct arguments *args, enum option_id option, const char *missing);

/* The value as a number, or `missing`; false after a USAGE error. */
bool option_real(struct ctx *ctx, const struct arguments *args, enum option_id option,
                 double missing, double *out);
bool option_integer(struct ctx *ctx, const struct arguments *args, enum option_id option,
                    long long missing, long long *out);

/* A number of bytes: digits with an optional suffix K, M or G for powers of 1024 ("64K", also
 * "64KB" and "64KiB"). False after a USAGE error. */
bool option_bytes(struct ctx *ctx, const struct arguments *args, enum option_id option,
                  size_t missing, size_t *out);

/* Parses "64K", "1.5M", "1000" as option_bytes does; false on a syntax error. Fractions need a
 * suffix. */
bool parse_bytes(const char *text, size_t *out);

const char *bytes_text(struct arena *arena, size_t bytes); /* "64K" if exact, else digits */

/* Index of the value in `words` (NULL-terminated). False after a USAGE error. */
bool option_word(struct ctx *ctx, const struct arguments *args, enum option_id option,
                 const char *const *words, int missing, int *out);

const char *command_name(enum command command);

/* Adds a value; the text is borrowed. */
void option_add(struct ctx *ctx, struct option_values *values, const char *text);

/* Option by its name, or a former one; OPTION_COUNT if unknown. */
enum option_id option_find(const char *name);

#endif
