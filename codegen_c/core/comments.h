/* comments.h - comments, lists and shapes as text, for several of the generated files. */
#ifndef CODEGEN_C_CORE_COMMENTS_H
#define CODEGEN_C_CORE_COMMENTS_H

#include "base/str.h"
#include "relay_ir/ir.h"

struct region;

/* Appends head, the items separated by ", ", and tail, in lines of at most 100 columns; further
 * lines begin in column `indent`. */
void add_list(struct str *out, const char *head, int n, const char *const *items, const char *tail,
              int indent);

/* "conv1 (Conv) + relu1 (Relu)" of the ONNX nodes that a region stands for, in lines that go on
 * with `line_start`. */
const char *origin_comment(struct arena *arena, const struct region *region,
                           const char *line_start);

/* "conv1 + relu1", cut, for tables; what only quantises is left out where anything else is there.
 */
const char *origin_short(struct arena *arena, const struct region *region);

/* What a region is called after: the ONNX node that computes most of it, as that reads best; the
 * value that it makes where relayc put it beside a node to store that in another type. */
const char *region_title(const struct region *region);

/* "[1,3,224,224]", "f32 [1,3,224,224]". */
const char *shape_brackets(struct arena *arena, const struct type *type);
const char *shape_comment(struct arena *arena, const struct type *type);

/* "const float data[3 * 224 * 224]": a parameter of NAME_run. */
const char *array_parameter(struct arena *arena, const struct type *type, const char *name,
                            bool is_const);

/* A comment line that separates the sections of a file. */
void add_section(struct str *out, const char *title);

/* The section "from templates/helpers" of a helper that is made of this file. */
void add_section_of_file(struct str *out, const char *path);

/* The text without comment lines of sections that only go on with the section that they stand in. */
const char *sections_joined(struct arena *arena, const char *text);

#endif
