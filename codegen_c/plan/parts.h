/* parts.h - what parts.c and overlay.c share: how values become parts, on trial. */
#ifndef CODEGEN_C_PLAN_PARTS_H
#define CODEGEN_C_PLAN_PARTS_H

#include "codegen_c/core/plan.h"

/* A value that has become a part since the last trial. */
struct pending {
    const struct value *value;
    struct region *region; /* that reads it, or whose result it is */
    bool *absent;          /* that says so; NULL = region->absent does */
};

enum answer { ANSWER_NONE, ANSWER_YES, ANSWER_NO };

struct parts {
    const struct function *main;
    struct region *regions;
    int n_regions;
    struct region **region_of;         /* by node id */
    struct part *part;                 /* by value id */
    const struct value **work;         /* of parts_find_views */
    enum answer *all_read, *is_result; /* by value id: what was found out; it does not change */
    int *times;              /* by value id: how often find_operands' concatenation reads it */
    struct pending *pending; /* a trial undoes these, the latest: none is part of an older one */
    int n_pending, group;    /* as many as a trial is made for */
    int64_t walk, steps;     /* of one trial, and left for trials */
    size_t least;            /* the arena's lower bound so far */
    bool io_inside;          /* see struct plan */
};

/* The value, its views, their views ... into parts->work; how many. */
int parts_find_views(const struct parts *parts, const struct value *value);

/* Whether main has the value, or a view of it, as a result. */
bool parts_is_result(const struct parts *parts, const struct value *value);

/* What the value is a view of, or the value itself. */
const struct value *parts_root(const struct value *value);

/* Whether the region is a concatenation and nothing else. */
bool parts_is_concat(const struct region *region);

/* Whether the region is a split or slice of one parameter, and nothing else. */
bool parts_is_split(const struct region *region);

/* What the concatenation reads as operand i; NULL = a constant of its own. */
const struct value *parts_operand_root(const struct region *concat, int i);

/* Where operand i, which begins at this place of the axis, would lie in the concatenation; false if
 * it cannot lie there. */
bool parts_slot(const struct parts *parts, const struct region *concat, int i, int64_t begin,
                struct part *part);

/* Whether `root`, operand i of the concatenation, can be written and read there, too. */
bool parts_can_be_part(const struct parts *parts, const struct region *concat, int i, int64_t begin,
                       const struct value *root, struct part *part);

/* Whether result i of a split or slice can stay where it is, and where that is. */
bool parts_can_be_view(const struct parts *parts, const struct region *region, int i,
                       struct part *part);

/* The value becomes a part, until a trial says otherwise: then *absent is false again, or (NULL)
 * region->absent is NULL. */
void parts_add_pending(struct parts *parts, const struct value *value, const struct part *part,
                       struct region *region, bool *absent);

/* Keeps what is pending if the arena need not grow for it. */
void parts_settle(struct parts *parts);

/* --- overlay.c -------------------------------------------------------------------------------- */

/* Whether all results of this split end, each over its own elements, at the same places of one
 * concatenation: then that lies over what is split. Pending, if so. */
void parts_try_overlay(struct parts *parts, struct arena *arena, struct region *split);

#endif
