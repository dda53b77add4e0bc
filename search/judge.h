/* judge.h - shared by the search's files: candidates to modules, keys and scores. */
#ifndef SEARCH_JUDGE_H
#define SEARCH_JUDGE_H

#include "search/search.h"

/* Adds the named tensors to the results and fuses regions, as variants are run. */
bool search_prepare_run(const struct search *search, struct module *module);

/* Key of a candidate; equal for candidates with equal computation. */
struct mark search_key(const struct search *search, const struct proposal *candidate);

/* Runs the f32 base on all samples and fills search->wanted. */
bool search_see_f32(struct search *search);

#endif
