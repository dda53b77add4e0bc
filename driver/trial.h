/* trial.h - the stages that search/ puts candidates through. */
#ifndef DRIVER_TRIAL_H
#define DRIVER_TRIAL_H

#include "search/search.h"

extern const struct search_stages trial_stages;

#endif
