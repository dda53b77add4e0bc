/* onnxruntime.h - ONNX Runtime as a process of its own, in the first Python that there is:
 * $RELAYC_PYTHON, the one beside relayc (build/python), python3. It answers as
 * runtime/bench/peer_onnxruntime.py says. */
#ifndef CLI_ONNXRUNTIME_H
#define CLI_ONNXRUNTIME_H

#include "cli/cli.h"
#include "driver/host_code.h"
#include "measure/worker.h"

/* Starts it on the model that the command names, with --freeze; plain: without graph optimisations.
 * Its script goes to the folder. option: who asks, "--vs onnxruntime", for messages. NULL after an
 * error, where Python lacks the package for instance; *version otherwise. */
struct worker *onnxruntime_start(struct cli *cli, struct host_code *folder, const char *option,
                                 bool plain, const char **version);

/* The next input, whose bytes are in the file. */
bool onnxruntime_input(struct cli *cli, struct worker *worker, const struct type *type,
                       const char *path);

#endif
