/* import.h - imports a TensorFlow Lite model (.tflite) as a module. */
#ifndef FRONTEND_TFLITE_IMPORT_H
#define FRONTEND_TFLITE_IMPORT_H

#include "base/file.h"
#include "frontend/custom_op.h"
#include "relay_ir/ir.h"

/* True for bytes that begin as a .tflite file does: its identifier, not its name, tells. */
bool tflite_is_model(const uint8_t *bytes, size_t n);

/* Imports the model. Inputs, outputs and their types, scales and layouts are the file's; integers
 * compute as TensorFlow Lite Micro's reference kernels do (docs/design/tflite.md). Payloads stay in
 * the file if aligned. All problems are reported; NULL after errors. The module takes the mapping
 * over (also if NULL is returned). custom[n_custom]: custom operators that are C functions of the user; one that the
 * model does not have is an error. floats: tensors with scales are dequantised to f32, inputs and outputs
 * included. */
struct module *tflite_import_mapping(struct ctx *ctx, const struct mapping *file, int n_custom,
                                     struct custom_op *custom, bool floats);

/* The same from memory (fuzzing, tests), without such functions. `bytes` must outlive the module. */
struct module *tflite_import_bytes(struct ctx *ctx, const uint8_t *bytes, size_t n);

struct tflite_operator {
    const char *name;
    int version; /* the last one that is known */
};

/* All supported operators, by name; *n rows. */
const struct tflite_operator *tflite_operators(int *n);

#endif
