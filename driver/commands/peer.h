/* peer.h - another implementation in a process of its own, by the first Python found:
 * $RELAYC_PYTHON, the one beside relayc (build/python), python3. Protocols:
 * runtime/bench/peer_onnxruntime.py, peer_tflite.py. */
#ifndef DRIVER_COMMANDS_PEER_H
#define DRIVER_COMMANDS_PEER_H

#include "driver/driver.h"
#include "driver/host_code.h"
#include "measure/worker.h"

struct implementation {
    const char *word;    /* of --against, --vs */
    const char *name;    /* "ONNX Runtime" */
    const char *package; /* for pip */
    const char *script;  /* of runtime/bench */
    const char *how;     /* "without optimisations" */
    bool reads_tflite;   /* otherwise ONNX */
    bool bit_exact;      /* relayc promises its bits for networks of integers */
};

extern const struct implementation implementations[]; /* in the order of implementation_words */
extern const char *const implementation_words[];      /* NULL-terminated */
enum { IMPLEMENTATION_ONNXRUNTIME };

/* Starts it on the model operand, with --freeze; plain: without graph optimisations. The script is
 * written to the folder. option: the requesting option for messages, "--vs". NULL after an error
 * (a missing package, say); else *version is set. */
struct worker *peer_start(struct driver_state *driver, struct host_code *folder,
                          const struct implementation *which, const char *option, bool plain,
                          const char **version);

/* Sends the next input from a file. */
bool peer_input(struct driver_state *driver, struct worker *worker, const struct type *type,
                const char *path);

#endif
