/* verify_orders.h - in which order of its dims a value lies: the one in which its numbers agree with others. */
#ifndef DRIVER_COMMANDS_VERIFY_ORDERS_H
#define DRIVER_COMMANDS_VERIFY_ORDERS_H

#include "relay_ir/ir.h"
#include "relay_ir/walk.h"

enum { MOST_DIMS = 5 }; /* of more than one element, whose orders are all tried */

/* An order of the dims of more than one element that a shape has, and what numbers in it show. */
struct verify_order {
    struct type shape;
    int rank;
    int dim[MOST_DIMS]; /* of `shape`, outermost first */
    double error, noise;
};

/* The numbers that agree, and in what order they lie. */
struct verify_numbers {
    const double *wanted, *found;
    int64_t n;
    double good; /* an error that nothing needs to be better than */
};

/* Row-major, without dims of one element. */
struct verify_order verify_order_as_it_lies(const struct type *shape);

/* The index of an element in row-major order, for elements one after the other in that order. */
struct walk verify_order_walk(const struct verify_order *order);

/* The order in which the numbers of a value agree best; exact: as the imported graph says. */
struct verify_order verify_find_order(const struct verify_numbers *a, const struct value *value,
                                      bool exact);

#endif
