/* graph_json.h - graphs as JSON on the command line: as the model, and as what compile writes. */
#ifndef CLI_GRAPH_JSON_H
#define CLI_GRAPH_JSON_H

#include "base/file.h"
#include "cli/cli.h"
#include "frontend/onnx/import.h"

/* The model that the operand names: a JSON graph when the name ends in .json, or when it is "-" and
 * what comes begins with '{'; else an ONNX model. NULL after errors. */
struct module *read_model(struct cli *cli, const struct import_options *options);

/* After the passes: whether the regions that a JSON graph has for other targets are what these
 * targets take. Loads the targets unless they have been loaded. */
bool check_graph_regions(struct cli *cli, struct module *module);

/* --emit: what compile writes. */
struct emit {
    bool c, json;
};
bool parse_emit(struct cli *cli, struct emit *out);

/* DIR/NAME.graph.json and, where it needs one, DIR/NAME.graph.bin into the set. */
bool write_graph_json(struct cli *cli, const struct module *module, struct output_set *set,
                      const char *dir, const char *name);
void report_graph_json(struct cli *cli, const struct module *module, const char *dir,
                       const char *name);

#endif
