/* verify.h - graph verifier, run after each pass; a failure is a bug in relayc (DIAG_INTERNAL). */
#ifndef RELAY_IR_VERIFY_H
#define RELAY_IR_VERIFY_H

#include "relay_ir/ir.h"

/* Checks: use lists and inputs agree, definitions come before uses, names are unique, every type is
 * complete and is what inference gives, calls fit their callees, constants have aligned payloads.
 * `after` names the pass that ran last, for the message. */
bool module_verify(struct module *module, const char *after);

#endif
