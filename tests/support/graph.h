/* graph.h - graphs written as IR text, for the tests of text and passes. */
#ifndef TESTS_SUPPORT_GRAPH_H
#define TESTS_SUPPORT_GRAPH_H

#include "base/str.h"
#include "relay_ir/interpret.h"
#include "relay_ir/ir.h"

/* The module of a text. Constants of more than one element that are all zero, such as those given
 * by checksum, get random payloads: in [-1, 1), or in [0.5, 1.5) where the name begins with "pos".
 * Fails the test when the text does not parse. */
struct module *graph_parse(struct ctx *ctx, const char *text, unsigned seed);

/* A vector of any element type (AFP: afp<4,3,7>), and one of its codes from random bits. */
struct type graph_type(struct ctx *ctx, enum dtype dtype, int64_t n);
unsigned char graph_code(const struct type *type, unsigned char bits);

/* The printed module; without the payloads of constants when `payloads` is false. In ctx->perm. */
const char *graph_text(const struct module *module, bool payloads);

/* Printed text (ending with a newline) without the payloads of constants. In ctx->perm. */
const char *graph_without_payloads(struct ctx *ctx, const char *text);

/* Adds text of which each T is the type, and each name %c or @c, of one letter, number i of its
 * kind
 * ("%c3"). */
void graph_add_numbered(struct str *out, const char *text, const char *type, int i);

/* The results of main for random parameters: floats in [-2, 2). In *bulk. NULL when it fails. */
struct tensor *graph_run(struct module *module, unsigned seed, struct bulk *bulk);

/* The same as generated C computes it, see simulate/simulate.h. */
struct tensor *graph_run_simulated(struct module *module, unsigned seed, struct bulk *bulk);

/* The greatest difference between two runs of n results each; see executions.h. */
double graph_difference(const struct tensor *a, const struct tensor *b, int n);

#endif
