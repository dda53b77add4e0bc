/* search_judge.h - relayc search --metric: a task's metric (eval/), or a program of the user's.
 *
 * cmd:PROGRAM is started by the shell with one more word: a .npz of the outputs of all samples,
 * stacked along a new first dimension, under the names of the model's outputs. The last line that
 * it prints is the number; greater is better, 1 is perfect. An exit code other than 0 ends the
 * search. */
#ifndef CLI_SEARCH_JUDGE_H
#define CLI_SEARCH_JUDGE_H

#include "cli/cli.h"
#include "quantize/calibrate.h"
#include "search/search.h"

struct search_judge; /* opaque */

/* From --metric and its companions. NULL after USAGE errors. */
struct search_judge *search_judge_new(struct cli *cli);

/* Reads the labels of at most `limit` samples of --data (0: of all), spread evenly: *source is
 * where to load these from; its load is NULL where any samples will do. */
bool search_judge_open(struct search_judge *judge, const struct function *fn, int64_t limit,
                       struct calibration_source *source);
void search_judge_expect(struct search_judge *judge, int64_t n); /* that many samples */

const struct judge *search_judge_of(struct search_judge *judge);
void search_judge_close(struct search_judge *judge); /* NULL is fine */

#endif
