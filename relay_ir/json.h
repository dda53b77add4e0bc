/* json.h - the graph as JSON, for other programs: docs/guide/graph-json.md has the schema.
 *
 * Constants of at most 16 elements are written in the JSON; payloads of larger ones go to a second
 * file (offset, bytes, CRC-32 in the JSON), row-major, little-endian, aligned to 64 bytes. A module
 * that is written and read back prints identical IR text. */
#ifndef RELAY_IR_JSON_H
#define RELAY_IR_JSON_H

#include "base/file.h"
#include "relay_ir/ir.h"

/* Adds `path` and, if any constant needs it, `data_path` (whose base name the JSON mentions) to the
 * output set. False after an error. */
bool module_write_json(const struct module *module, struct output_set *set, const char *path,
                       const char *data_path);

/* True if a constant has more than 16 elements, so that module_write_json writes data_path. */
bool module_json_has_data(const struct module *module);

/* JSON text of a function and all that it calls, for plug-ins and reports; payloads of large
 * constants appear as crc32 only. In the arena. */
const char *function_json(const struct function *fn, struct arena *arena);

/* Parses an output of module_write_json. The data file is opened only below the folder of `path`.
 * Malformed files are safe: every problem is reported. NULL after errors. */
struct module *module_read_json(struct ctx *ctx, const char *path);

/* module_read_json from memory (fuzzing, tests); a data file is refused if dir is NULL. */
struct module *module_read_json_bytes(struct ctx *ctx, const char *bytes, size_t n,
                                      const char *dir);

#endif
