/* open_facts.h - the facts of an operand of diff, report and analyze. */
#ifndef CLI_OPEN_FACTS_H
#define CLI_OPEN_FACTS_H

#include "cli/cli.h"
#include "report/facts.h"

/* The facts of a NAME.json, of the only one in a folder, or of a model, which is compiled to a
 * temporary folder with the command's options. NULL after errors. close_facts removes the folder.
 */
struct opened_facts {
    struct facts *facts;
    const char *folder; /* temporary; NULL = none */
};

bool open_facts(struct cli *cli, const char *operand, struct opened_facts *out);
void close_facts(struct opened_facts *opened);

#endif
