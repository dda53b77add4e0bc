/* help.h - what relayc says of itself, from the tables of driver/options.h and cli/topics: --help, 'relayc help', manual
 * pages. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "base/arena.h"
#include "driver/options.h"

enum { HELP_WIDTH = 100 }; /* columns */

/* Text in lines of HELP_WIDTH columns at most; the first one begins at `column`, others at `indent`. */
void print_wrapped(FILE *out, int column, int indent, const char *text);

/* cli/topics/NAME.txt; NULL if there is none. */
const char *topic_text(struct arena *arena, const char *name);

/* Name of the i-th topic that is no command, "" if the i-th embedded file is none; NULL after the last. */
const char *topic_name(struct arena *arena, size_t i);

/* Does the command list the option in its own groups, not only among those that all commands have? */
bool command_has(enum command command, enum option_id option);

void print_overview(FILE *out); /* relayc without a command */
void print_command_help(FILE *out, enum command command);
void print_topics(FILE *out);
void print_topic(FILE *out, const char *text);
void print_option_help(FILE *out, enum option_id option);

/* roff: relayc(1), or relayc-COMMAND(1). */
void print_manual(FILE *out, struct arena *arena, enum command command);

#endif
