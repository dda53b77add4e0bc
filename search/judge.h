/* judge.h - what the files of the search share: from candidates to modules, marks and scores. */
#ifndef SEARCH_JUDGE_H
#define SEARCH_JUDGE_H

#include "search/search.h"

/* Adds the named tensors to the results, and makes regions: as variants are run. */
bool search_prepare_run(const struct search *search, struct module *module);

/* Equal for candidates that compute the same. */
struct mark search_key(const struct search *search, const struct proposal *candidate);

/* The base, in f32, on all samples: fills search->wanted. */
bool search_see_f32(struct search *search);

#endif
