/* expect.h - what tests ask of diagnostics. */
#ifndef TESTS_SUPPORT_EXPECT_H
#define TESTS_SUPPORT_EXPECT_H

#include "base/ctx.h"

/* Whether there is an error (a warning) with this code whose message, note or help contains `part`.
 */
bool expect_error(const struct ctx *ctx, enum diag_code code, const char *part);
bool expect_warning(const struct ctx *ctx, enum diag_code code, const char *part);

/* All diagnostics as printed, in ctx->perm: for the message of a failed assertion. */
const char *expect_text(struct ctx *ctx);

#endif
