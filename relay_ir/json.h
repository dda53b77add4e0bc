/* json.h - the graph as JSON, for other programs: docs/guide/graph-json.md has the schema.
 *
 * Constants of at most 16 elements are written in the JSON; the payloads of others stand in a
 * second file (offset, bytes, CRC-32 in the JSON), row-major, little-endian, aligned to 64 bytes.
 * Written and read back, a module prints the same IR text, byte for byte. */
#ifndef RELAY_IR_JSON_H
#define RELAY_IR_JSON_H

#include "base/file.h"
#include "relay_ir/ir.h"

/* Writes PATH and, where it needs one, DATA_PATH (whose base name the JSON mentions) into the set.
 * False after an error. */
bool module_write_json(const struct module *module, struct output_set *set, const char *path,
                       const char *data_path);

/* Whether it needs DATA_PATH: where no constant has more than 16 elements, no such file is written.
 */
bool module_json_has_data(const struct module *module);

/* One function and all that it calls, as JSON text without the payloads of big constants (crc32
 * only): what plug-ins and reports are given. In the arena. */
const char *function_json(const struct function *fn, struct arena *arena);

/* Reads what module_write_json wrote; the data file is opened beneath the folder of `path` only. A
 * malformed file never crashes us: all that is wrong is reported. NULL after errors. */
struct module *module_read_json(struct ctx *ctx, const char *path);

/* The same from memory (fuzzing, tests); a data file is refused when dir is NULL. */
struct module *module_read_json_bytes(struct ctx *ctx, const char *bytes, size_t n,
                                      const char *dir);

#endif
