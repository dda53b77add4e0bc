/* match_finish.c - all goals of a search are reached: the checks of the match as a whole, and the
 * match. */
#include <stdlib.h>
#include <string.h>

#include "partition/match_search.h"

static bool is_leaf(const struct bound *bound)
{
    return bound->rest || bound->pattern->kind <= PAT_VARIABLE;
}

/* One name, one value (trees that were made by hand may use a name twice). */
static bool names_agree(struct search *s, const struct bound *bound)
{
    for (int i = 0; i < s->n_bound; i++) {
        const struct bound *other = &s->bound[i];

        if (other->pattern != bound->pattern && other->pattern->capture &&
            bound->pattern->capture && other->value != bound->value && !other->rest &&
            !bound->rest && strcmp(other->pattern->capture, bound->pattern->capture) == 0)
            return false;
    }
    return true;
}

static bool bound_values_hold(struct search *s)
{
    for (int i = 0; i < s->n_bound; i++) {
        const struct bound *bound = &s->bound[i];
        const struct goal goal = { .pattern = bound->pattern, .value = bound->value };

        if (is_leaf(bound) && !bound->connector && bound->value && bound->value->def &&
            search_has_node(s, 0, bound->value->def))
            return search_fail(s, FAILURE_INNER, &goal, 0);
        if (!names_agree(s, bound))
            return search_fail(s, FAILURE_SAME, &goal, 0);
    }
    return true;
}

static const struct pattern *pattern_of_node(const struct search *s, const struct node *node)
{
    for (int i = 0; i < s->n_bound; i++)
        if (s->bound[i].value && s->bound[i].value->def == node && !is_leaf(&s->bound[i]))
            return s->bound[i].pattern;
    return s->pattern;
}

/* Who reads the value outside of the match; of several the first in the graph (of those at the head
 * of a long list). NULL = nobody. */
static struct node *outside_reader(const struct search *s, const struct value *value)
{
    struct node *reader = NULL;
    int n = 0;

    for (const struct use *use = value->uses; use && !(reader && n > 30); use = use->next, n++)
        if (!search_has_node(s, 0, use->node) && (!reader || use->node->id < reader->id))
            reader = use->node;
    return reader;
}

static bool outside_use_holds(struct search *s)
{
    for (int i = 0; i < s->n_nodes; i++) {
        struct node *node = s->nodes[i];

        for (int k = 0; node != s->root && k < node->n_outputs; k++) {
            const struct goal goal = { .pattern = pattern_of_node(s, node),
                                       .value = node->outputs[k],
                                       .reader = outside_reader(s, node->outputs[k]) };

            if (goal.reader)
                return search_fail(s, FAILURE_OUTSIDE, &goal, 0);
        }
    }
    return true;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct capture capture_of(const struct search *s, const struct bound *bound)
{
    struct capture capture = { .name = bound->pattern->capture, .value = bound->value };

    if (!is_leaf(bound) && bound->value && bound->value->def &&
        search_has_node(s, 0, bound->value->def)) {
        capture.node = bound->value->def;
        capture.value = capture.node->outputs[0];
    }
    return capture;
}

static void build_match(const struct search *s)
{
    struct match *match = s->out;
    int n;
    const char **names = pattern_captures(s->pattern, s->matcher->arena, &n);

    *match = (struct match){ .root = s->root, .n_nodes = s->n_nodes };
    match->nodes = arena_array(s->matcher->arena, struct node *, s->n_nodes);
    memcpy(match->nodes, s->nodes, (size_t)s->n_nodes * sizeof *s->nodes);
    qsort(match->nodes, (size_t)s->n_nodes, sizeof *match->nodes, compare_nodes);
    match->captures = arena_array(s->matcher->arena, struct capture, n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < s->n_bound; k++)
            if (!s->bound[k].rest && s->bound[k].pattern->capture &&
                strcmp(s->bound[k].pattern->capture, names[i]) == 0) {
                match->captures[match->n_captures++] = capture_of(s, &s->bound[k]);
                break;
            }
}

bool search_finish(struct search *s)
{
    if (s->is_path)
        return true;
    if (!bound_values_hold(s) || !outside_use_holds(s))
        return false;
    build_match(s);
    return true;
}
