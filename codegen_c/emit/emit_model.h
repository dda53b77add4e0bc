/* emit_model.h - NAME.c, and what other C files of the output share with it. */
#ifndef CODEGEN_C_EMIT_EMIT_MODEL_H
#define CODEGEN_C_EMIT_EMIT_MODEL_H

#include "base/map.h"
#include "base/str.h"

struct codegen;

/* The banner's lines about where the file comes from. */
void add_banner(struct codegen *codegen, struct str *out, const char *suffix);

/* The code of NAME.c: [0] the rules of its arithmetic, "" = none; helpers, "" = unused; functions of several networks;
 * [n - 1] the regions and the entry. */
struct model_parts {
    const char **texts;
    int n;
};

struct model_parts make_parts(struct codegen *codegen);

/* NAME.c without its banner: includes and helpers, then, behind the constants, functions. */
struct model_text {
    const char *head, *functions;
};

/* The text, and codegen->code_id and data_id from it, which the header has. */
struct model_text make_model(struct codegen *codegen, const struct model_parts *parts);

void emit_model(struct codegen *codegen, const struct model_text *text);

/* Behind the include of NAME.h: whether that is of the same compilation. */
void add_checks_of_files(struct codegen *codegen, struct str *out, const char *suffix, int reader);

/* The includes of a file that reads arrays: system headers (their names are keys of the map), and
 * NAME_weights.h where it needs that. */
void add_includes(struct codegen *codegen, struct str *out, const struct map *headers, int reader);

/* #include of each key of the map, and of stdint.h. */
void add_system_includes(struct arena *arena, struct str *out, const struct map *headers);

/* Headers of the compiler that only some CPUs have: name -> condition. */
void add_includes_if(struct codegen *codegen, struct str *out, const struct map *headers);

/* For C++ compilers, where one of the texts has `restrict`. */
void add_restrict_of_cpp(struct str *out, const char *const texts[], int n);

/* The value that a block overlaps (struct block, `before`), by its name in C. */
const char *reached_name(struct codegen *codegen, int block);

#endif
