/* cmd_explain.c - the long text of a diagnostic's code. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"

bool command_explain(struct cli *cli)
{
    const char *text = cli->driver->args.operands[0];
    char *end;
    const long number = strtol(text + strspn(text, "Rr"), &end, 10);
    const char *title = diag_title((enum diag_code)number);

    if (*end || !title) {
        diag_error(cli->ctx, DIAG_USAGE, NULL, "unknown diagnostic '%s'",
                   str_safe(&cli->ctx->perm, text, 40));
        diag_help(cli->ctx, "a code such as R0301 precedes each message");
        return false;
    }
    printf("R%04ld: %s\n\n%s\n", number, title, diag_explanation((enum diag_code)number));
    if (number == DIAG_LIMIT) {
        putchar('\n');
        limits_print(stdout);
    }
    return true;
}
