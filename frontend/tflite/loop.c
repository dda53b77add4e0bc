/* loop.c - WHILE: its body (control.c) is written out round by round.
 *
 * When it ends is known when the file is read, or bounded: its condition is false at some time, whatever the numbers of run
 * time say. So integers that rounds hand on are constants as long as they are known, and others have ranges, on the
 * premise that the round runs at all. A condition of run time becomes an `if` for each result of a round, and the C skips
 * the rounds behind the last. With --max-rounds a loop has as many rounds at most, and a run that asks for more gives
 * NAME_WRONG_NUMBER. */
#include "frontend/expected.h"
#include "frontend/tflite/control.h"
#include "frontend/tflite/importer.h"

enum { MOST_KNOWN = 1024, MOST_ROUNDS = 2000, FIRST_LOOK = 32 };

/* Integers that are known become constants: counts, places. */
static bool settle(struct tfl_node *node, struct operand *operand)
{
    const int n_errors = node->ctx->diags.n_errors;
    struct value *value = operand->value;
    struct tensor known;

    if (!value || value->kind == VALUE_CONSTANT || dtype_is_float(value->type.dtype))
        return false;
    if (!tfl_is_known(node, value, MOST_KNOWN, &known))
        return false;
    if (node->ctx->diags.n_errors == n_errors)
        operand->value = constant_new(node->fn, value->name, &known.type, known.data);
    return true;
}

static bool is_constant(const struct operand *operand)
{
    return operand->value && operand->value->kind == VALUE_CONSTANT;
}

struct loop {
    int n;
    struct body condition, body;
    struct operand *given, *next, *results; /* at first; to the next round; if that does not run */
    struct operand *made;                   /* what a round makes */
    struct value *alive;                    /* whether this round runs; NULL = it does */
    struct premise premise;                 /* that all rounds so far run */
    int n_rounds;
    wide seen;      /* distance from its end (range_to_false) … */
    int seen_after; /* … after this number of rounds */
};

/* Whether numbers that change bring the loop to its end, within the limit as far as they have come until now. */
static bool comes_nearer(struct loop *loop, wide left, int64_t most)
{
    const wide nearer = loop->seen - left;
    const int rounds = loop->n_rounds - loop->seen_after;

    if (left < 0)
        return false;
    if (loop->n_rounds > 0 &&
        (loop->n_rounds < FIRST_LOOK || loop->n_rounds < 2 * loop->seen_after))
        return true;
    if (loop->n_rounds > 0 && (nearer <= 0 || left / nearer * rounds > most))
        return false;
    loop->seen = left;
    loop->seen_after = loop->n_rounds;
    return true;
}

static bool is_bounded(struct tfl_node *node, struct loop *loop, const struct value *condition,
                       const struct value *open)
{
    const int64_t most = limit_value(node->ctx, LIMIT_ROUNDS);
    bool ok = true;

    if (node->ctx->limits.given[LIMIT_ROUNDS])
        return true;
    if (open == condition && !comes_nearer(loop, range_to_false(condition, &loop->premise), most))
        ok = tfl_unsupported(node, "when it ends depends on numbers of run time, and nothing "
                                   "bounds it (a comparison with a count does, alone or in "
                                   "LOGICAL_AND)");
    else if (loop->n_rounds >= most)
        ok = tfl_unsupported(node, "it may end at run time, and after more than %lld rounds",
                             (long long)most);
    if (!ok)
        diag_help(node->ctx, "--max-rounds N, if there are never more than N");
    return ok;
}

/* Whether there is another round, if all before ran. */
static bool goes_on(struct tfl_node *node, struct loop *loop, bool *goes)
{
    const struct tfl_tensor truth_value = { .type = type_scalar(DTYPE_BOOL) };
    struct tfl_tensor like = truth_value;
    struct operand wanted = { .tensor = &like }, condition;
    struct value *open;
    enum truth truth;

    /* of one number, in any shape */
    if (loop->condition.graph.outputs.n == 1) {
        const int64_t index = fb_int_at(&loop->condition.graph.outputs, 0, 4);

        if (index >= 0 && index < loop->condition.graph.n_tensors)
            like.type = loop->condition.graph.tensors[index].type;
    }
    if (!tfl_body_run(node, &loop->condition, loop->next, &wanted, &condition) ||
        !condition.value || !tfl_truth(node, condition.value, &loop->premise, &truth, &open))
        return false;
    *goes = truth != NO;
    if (truth != OPEN)
        return true;
    if (!is_bounded(node, loop, condition.value, open))
        return false;
    loop->alive = loop->alive ? tfl_chosen(node, loop->alive, open, loop->alive) : open;
    if (loop->alive)
        premise_add(&loop->premise, loop->alive);
    return loop->alive != NULL;
}

static bool run_round(struct tfl_node *node, struct loop *loop)
{
    int n_before, n_behind;
    struct value **before = tfl_kept_list(node, &n_before), **behind;

    if (!tfl_body_run(node, &loop->body, loop->next, loop->next, loop->made))
        return false;
    for (int i = 0; i < loop->n; i++)
        (void)settle(node, &loop->made[i]);
    if (!loop->alive) {
        for (int i = 0; i < loop->n; i++)
            loop->next[i] = loop->results[i] = loop->made[i];
        return true;
    }
    behind = tfl_kept_list(node, &n_behind);
    if (!tfl_choose_all(node, loop->alive, loop->n, loop->made, loop->results, loop->results) ||
        !tfl_kept_choose(node, loop->alive, behind, n_behind, before, n_before))
        return false;
    for (int i = 0; i < loop->n; i++)
        loop->next[i] = is_constant(&loop->made[i]) ? loop->made[i] : loop->results[i];
    return true;
}

/* Results, and variables that rounds assign, are right only if no other round would have run. */
static bool expect_the_end(struct tfl_node *node, struct loop *loop, struct value *const *before,
                           int n_before)
{
    struct value *ended = expected_too(node->fn, node->origin, NULL, loop->alive, false);
    struct value **kept;
    int n;

    if (!ended)
        return false;
    for (int i = 0; i < loop->n; i++) {
        struct operand *result = &loop->results[i];

        if (!result->value || result->value == loop->given[i].value)
            continue;
        result->value = expected_value(node->fn, node->origin, result->value, ended);
        if (!result->value)
            return false;
    }
    kept = tfl_kept_list(node, &n);
    for (int i = 0; i < n; i++) {
        if (!kept[i] || (i < n_before && kept[i] == before[i]))
            continue;
        kept[i] = expected_value(node->fn, node->origin, kept[i], ended);
        if (!kept[i])
            return false;
    }
    tfl_kept_restore(node, kept, n);
    return true;
}

static bool run_loop(struct tfl_node *node, struct loop *loop)
{
    const int64_t most = node->ctx->limits.given[LIMIT_ROUNDS];
    int n_before;
    struct value **before = tfl_kept_list(node, &n_before);
    bool goes;

    while (goes_on(node, loop, &goes)) {
        if (!goes)
            return true;
        if (loop->alive && most && loop->n_rounds >= most)
            return expect_the_end(node, loop, before, n_before);
        if (++loop->n_rounds > MOST_ROUNDS)
            return tfl_unsupported(node, "more than %d rounds, which would all be written out",
                                   (int)MOST_ROUNDS);
        if (!run_round(node, loop))
            return false;
    }
    return false;
}

bool convert_tfl_while(struct tfl_node *node)
{
    const bool was_shared = node->keeping->is_shared;
    struct loop loop = { .n = node->n_inputs };
    bool ok;

    if (!tfl_check(node, node->n_outputs, node->n_outputs, node->n_outputs) ||
        !tfl_body_read(node, "condition", 0, loop.n, 1, &loop.condition) ||
        !tfl_body_read(node, "body", 1, loop.n, loop.n, &loop.body))
        return false;
    loop.premise.truths.arena = &node->ctx->perm;
    loop.next = tfl_operands(node, 0);
    loop.results = arena_array(&node->ctx->perm, struct operand, loop.n + 1);
    loop.made = arena_array(&node->ctx->perm, struct operand, loop.n + 1);
    if (!loop.next)
        return false;
    for (int i = 0; i < loop.n; i++) {
        (void)settle(node, &loop.next[i]);
        loop.results[i] = loop.next[i];
        if (!tfl_body_tensor(node, &loop.body.graph,
                             fb_int_at(&loop.body.graph.inputs, (size_t)i, 4), node->outputs[i],
                             "body"))
            return false;
    }
    loop.given = arena_memdup(&node->ctx->perm, loop.next, (size_t)loop.n * sizeof *loop.next);
    node->keeping->is_shared = true;
    ok = run_loop(node, &loop);
    node->keeping->is_shared = was_shared;
    return ok && tfl_body_results(node, loop.results);
}
