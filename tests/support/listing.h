/* listing.h - a module's main function in one line per node, for comparisons in tests:
 *
 *   "c = nn.conv2d(x, w)\ny = nn.relu(c)\n-> y\n"
 */
#ifndef TESTS_SUPPORT_LISTING_H
#define TESTS_SUPPORT_LISTING_H

#include "relay_ir/ir.h"

const char *listing(const struct module *module);

#endif
