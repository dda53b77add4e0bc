/* onnxruntime.h - ONNX Runtime in a process of its own, by the first Python found: $RELAYC_PYTHON,
 * the one beside relayc (build/python), python3. Protocol: runtime/bench/peer_onnxruntime.py. */
#ifndef CLI_ONNXRUNTIME_H
#define CLI_ONNXRUNTIME_H

#include "cli/cli.h"
#include "driver/host_code.h"
#include "measure/worker.h"

/* Starts it on the model operand, with --freeze; plain: without graph optimisations. The
 * script is written to the folder. option: the requesting option for messages, "--vs onnxruntime".
 * NULL after an error (a missing package, say); else *version is set. */
struct worker *onnxruntime_start(struct cli *cli, struct host_code *folder, const char *option,
                                 bool plain, const char **version);

/* Sends the next input from a file. */
bool onnxruntime_input(struct cli *cli, struct worker *worker, const struct type *type,
                       const char *path);

#endif
