/* search_judge.h - relayc search --metric: a task metric (eval/), or a user's program.
 *
 * cmd:PROGRAM is run by the shell with an argument: a .npz with the outputs of all samples, stacked
 * along a new first dimension, by output name. The last line that it prints is the score; greater
 * is better, 1 is perfect. A non-zero exit code ends the search. */
#ifndef DRIVER_COMMANDS_SEARCH_JUDGE_H
#define DRIVER_COMMANDS_SEARCH_JUDGE_H

#include "driver/driver.h"
#include "quantize/calibrate.h"
#include "search/search.h"

struct search_judge; /* opaque */

/* From --metric and related options. NULL after USAGE errors. */
struct search_judge *search_judge_new(struct driver_state *driver);

/* Reads the labels of at most `limit` samples of --data (0: all), evenly spread. *source loads
 * these; its load is NULL if any samples will do. */
bool search_judge_open(struct search_judge *judge, const struct function *fn, int64_t limit,
                       struct calibration_source *source);
void search_judge_expect(struct search_judge *judge, int64_t n); /* sets the number of samples */

const struct judge *search_judge_of(struct search_judge *judge);
void search_judge_close(struct search_judge *judge); /* NULL is fine */

#endif
