/* convert_einsum.c - Einsum as sums, transposes, reshapes and one matmul per pair of operands.
 *
 * method   1. parse the equation into labels per dim; an ellipsis becomes labels of its own,
 *             counted from the right
 *          2. per operand: repeated labels become a diagonal
 *          3. fold the operands from the left: labels of both that nobody needs any more are
 *             contracted by matmul, the others are batches or free dims
 *          4. sum what is left over, and put the dims in the order of the output */
#include <ctype.h>
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

enum { N_LETTERS = 128, N_LABELS = N_LETTERS + MAX_RANK, MAX_TERMS = 8 };

struct term {
    struct value *value;
    int n;
    int label[MAX_RANK];
};

struct einsum {
    struct onnx_node *node;
    int n_terms;
    struct term terms[MAX_TERMS];
    struct term out;          /* labels only */
    int64_t extent[N_LABELS]; /* 0 = unseen (an extent of 0 cannot contract; refused) */
};

static bool has_label(const struct term *term, int label)
{
    for (int i = 0; i < term->n; i++)
        if (term->label[i] == label)
            return true;
    return false;
}

static bool bad_equation(struct onnx_node *node, const char *why)
{
    return bad_attribute(node, "attribute equation \"%s\": %s",
                         str_safe(&node->ctx->perm, onnx_word(node, "equation", ""), 80), why);
}

/* --- 1. the equation -------------------------------------------------------------------------- */

/* Labels from text up to `end`; rank is what they must add up to, with the ellipsis taking the rest
 * (-1 for the output, where it takes `ellipsis` dims). */
static bool parse_term(struct onnx_node *node, const char *text, const char *end, int rank,
                       int ellipsis, struct term *term)
{
    int letters = 0, rest;

    for (const char *at = text; at < end; at++)
        letters += isalpha((unsigned char)*at) != 0;
    rest = rank < 0 ? ellipsis : rank - letters;
    term->n = 0;
    for (const char *at = text; at < end; at++) {
        if (*at == ' ')
            continue;
        if (isalpha((unsigned char)*at) && term->n < MAX_RANK) {
            term->label[term->n++] = *at;
            continue;
        }
        if (end - at < 3 || strncmp(at, "...", 3) != 0 || rest < 0 || term->n + rest > MAX_RANK)
            return bad_equation(node, "wanted letters and '...', as many as the operand has dims");
        for (int i = 0; i < rest; i++)
            term->label[term->n++] = N_LETTERS + rest - 1 - i;
        rest = -1; /* a second ellipsis is refused */
        at += 2;
    }
    return rank < 0 || term->n == rank ||
           bad_equation(node, "an operand has more or fewer dims than labels");
}

/* Without "->": the ellipsis, then every letter that occurs once, in alphabetical order. */
static void implicit_output(struct einsum *e, const char *text, int ellipsis)
{
    int count[N_LETTERS] = { 0 };

    for (const char *at = text; *at; at++)
        if (isalpha((unsigned char)*at))
            count[(unsigned char)*at]++;
    e->out.n = 0;
    for (int i = 0; i < ellipsis; i++)
        e->out.label[e->out.n++] = N_LETTERS + ellipsis - 1 - i;
    for (int letter = 0; letter < N_LETTERS; letter++)
        if (count[letter] == 1 && e->out.n < MAX_RANK)
            e->out.label[e->out.n++] = letter;
}

static int ellipsis_dims(const struct einsum *e)
{
    int n = 0;

    for (int i = 0; i < e->n_terms; i++)
        for (int k = 0; k < e->terms[i].n; k++)
            if (e->terms[i].label[k] - N_LETTERS + 1 > n)
                n = e->terms[i].label[k] - N_LETTERS + 1;
    return n;
}

static bool check_output(const struct einsum *e)
{
    for (int i = 0; i < e->out.n; i++) {
        for (int k = 0; k < i; k++)
            if (e->out.label[k] == e->out.label[i])
                return bad_equation(e->node, "the output has a label twice");
        if (e->extent[e->out.label[i]] == 0)
            return bad_equation(e->node, "the output has a label that no operand has");
    }
    return true;
}

/* The extent of each label; 1 gives way to any other. */
static bool find_extents(struct einsum *e)
{
    for (int i = 0; i < e->n_terms; i++)
        for (int k = 0; k < e->terms[i].n; k++) {
            int64_t *extent = &e->extent[e->terms[i].label[k]];
            int64_t dim = e->terms[i].value->type.dim[k];

            if (dim == 0)
                return onnx_unsupported(e->node, "an operand is empty");
            if (*extent > 1 && dim != 1 && dim != *extent)
                return bad_equation(e->node, "a label stands for dims of different extents");
            if (*extent == 0 || dim != 1)
                *extent = dim;
        }
    return true;
}

static bool parse(struct einsum *e)
{
    struct onnx_node *node = e->node;
    const char *text = onnx_word(node, "equation", ""), *arrow = strstr(text, "->");
    const char *end = arrow ? arrow : text + strlen(text), *at = text;

    if (!onnx_ok(node))
        return false;
    for (e->n_terms = 0; e->n_terms < node->n_inputs; e->n_terms++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        struct term *term = &e->terms[e->n_terms];

        if (!comma != (e->n_terms + 1 == node->n_inputs))
            return bad_equation(node, "it has more or fewer operands than the node");
        term->value = onnx_input(node, e->n_terms);
        if (!parse_term(node, at, stop, term->value->type.rank, 0, term))
            return false;
        at = stop + 1;
    }
    if (!arrow)
        implicit_output(e, text, ellipsis_dims(e));
    else if (!parse_term(node, arrow + 2, text + strlen(text), -1, ellipsis_dims(e), &e->out))
        return false;
    return find_extents(e) && check_output(e);
}

/* --- building blocks -------------------------------------------------------------------------- */

/* The term's dims in the order of these labels (a permutation of its own). */
static void order_dims(struct onnx_node *node, struct term *term, const int *labels)
{
    struct ints axes = ints_fill(term->n, 0);

    for (int i = 0; i < term->n; i++)
        for (int k = 0; k < term->n; k++)
            if (term->label[k] == labels[i])
                axes.at[i] = k;
    term->value = transpose_to(node, term->value, &axes, "ordered");
    memcpy(term->label, labels, (size_t)term->n * sizeof *labels);
}

/* Dims of extent 1 whose label is longer elsewhere are repeated. */
static void spread(struct einsum *e, struct term *term)
{
    union attrs attrs = { .shape = { .shape = ints_of_shape(&term->value->type) } };
    bool changed = false;

    for (int i = 0; i < term->n; i++)
        if (attrs.shape.shape.at[i] != e->extent[term->label[i]]) {
            attrs.shape.shape.at[i] = e->extent[term->label[i]];
            changed = true;
        }
    if (changed)
        term->value = onnx_build1(e->node, OP_BROADCAST_TO, &attrs, "spread", term->value);
}

/* Dims i < k of one label: with both last, the diagonal is every (n+1)-th element of n * n. */
static void take_diagonal(struct onnx_node *node, struct term *term, int i, int k)
{
    const int64_t n = term->value->type.dim[i];
    union attrs slice = { .slice = { .begin = { 0 } } };
    struct ints axes = { .n = term->n }, shape;
    int at = 0;

    for (int d = 0; d < term->n; d++)
        if (d != i && d != k)
            axes.at[at++] = d;
    axes.at[at] = i;
    axes.at[at + 1] = k;
    term->value = transpose_to(node, term->value, &axes, "pair_last");
    if (!term->value)
        return;
    shape = ints_of_shape(&term->value->type);
    shape.n--;
    shape.at[shape.n - 1] = n * n;
    slice.slice.begin = ints_fill(shape.n, 0);
    slice.slice.strides = ints_fill(shape.n, 1);
    slice.slice.strides.at[shape.n - 1] = n + 1;
    slice.slice.size = shape;
    slice.slice.size.at[shape.n - 1] = n;
    term->value = reshape_to(node, term->value, &shape, "pairs");
    if (term->value)
        term->value = onnx_build1(node, OP_STRIDED_SLICE, &slice, "diagonal", term->value);
    at = term->label[i];
    memmove(&term->label[k], &term->label[k + 1], (size_t)(term->n - k - 1) * sizeof at);
    memmove(&term->label[i], &term->label[i + 1], (size_t)(term->n - i - 2) * sizeof at);
    term->n--;
    term->label[term->n - 1] = at;
}

static void take_diagonals(struct onnx_node *node, struct term *term)
{
    for (int k = 1; term->value && k < term->n; k++)
        for (int i = 0; i < k; i++)
            if (term->label[i] == term->label[k]) {
                take_diagonal(node, term, i, k);
                k = 0; /* the dims have moved: look again */
                break;
            }
}

/* Sums over the dims whose labels `needed` does not have. */
static void sum_rest(struct onnx_node *node, struct term *term, const bool *needed)
{
    struct ints axes = { .n = 0 };
    int n = 0;

    for (int i = 0; i < term->n; i++) {
        if (needed[term->label[i]])
            term->label[n++] = term->label[i];
        else
            axes.at[axes.n++] = i;
    }
    term->n = n;
    if (axes.n > 0)
        term->value = reduce_with(node, OP_SUM, term->value, &axes, false, "sum");
}

/* --- 3. two operands -------------------------------------------------------------------------- */
struct roles {
    int batch[MAX_RANK], contracted[MAX_RANK], free_a[MAX_RANK], free_b[MAX_RANK];
    int n_batch, n_contracted, n_free_a, n_free_b;
};

static void find_roles(const struct term *a, const struct term *b, const bool *needed,
                       struct roles *roles)
{
    memset(roles, 0, sizeof *roles);
    for (int i = 0; i < a->n; i++) {
        int label = a->label[i];

        if (!has_label(b, label))
            roles->free_a[roles->n_free_a++] = label;
        else if (needed[label])
            roles->batch[roles->n_batch++] = label;
        else
            roles->contracted[roles->n_contracted++] = label;
    }
    for (int i = 0; i < b->n; i++)
        if (!has_label(a, b->label[i]))
            roles->free_b[roles->n_free_b++] = b->label[i];
}

static int64_t append(const struct einsum *e, const int *labels, int n, int *out, int *n_out)
{
    int64_t product = 1;

    for (int i = 0; i < n; i++) {
        out[(*n_out)++] = labels[i];
        product *= e->extent[labels[i]];
    }
    return product;
}

/* a[batch, free_a, contracted] times b[batch, contracted, free_b], as matrices. */
static bool multiply(struct einsum *e, struct term *a, struct term *b, const bool *needed)
{
    struct onnx_node *node = e->node;
    int order_a[2 * MAX_RANK], order_b[2 * MAX_RANK], order_y[2 * MAX_RANK];
    int n_a = 0, n_b = 0, n_y = 0;
    int64_t batch, m, k, n;
    struct ints shape;
    struct roles r;

    find_roles(a, b, needed, &r);
    batch = append(e, r.batch, r.n_batch, order_a, &n_a);
    m = append(e, r.free_a, r.n_free_a, order_a, &n_a);
    k = append(e, r.contracted, r.n_contracted, order_a, &n_a);
    append(e, r.batch, r.n_batch, order_b, &n_b);
    append(e, r.contracted, r.n_contracted, order_b, &n_b);
    n = append(e, r.free_b, r.n_free_b, order_b, &n_b);
    append(e, r.batch, r.n_batch, order_y, &n_y);
    append(e, r.free_a, r.n_free_a, order_y, &n_y);
    append(e, r.free_b, r.n_free_b, order_y, &n_y);
    if (n_y > MAX_RANK)
        return onnx_unsupported(node,
                                "a product in between has %d dimensions, relayc takes up to "
                                "%d",
                                n_y, MAX_RANK);
    order_dims(node, a, order_a);
    order_dims(node, b, order_b);
    a->value = reshape_to(node, a->value, &(struct ints){ 3, { batch, m, k } }, "left");
    b->value = reshape_to(node, b->value, &(struct ints){ 3, { batch, k, n } }, "right");
    a->value = apply2(node, OP_MATMUL, "product", a->value, b->value);
    shape.n = n_y;
    for (int i = 0; i < n_y; i++)
        shape.at[i] = e->extent[order_y[i]];
    a->value = reshape_to(node, a->value, &shape, "unfolded");
    a->n = n_y;
    memcpy(a->label, order_y, (size_t)n_y * sizeof *order_y);
    return a->value != NULL;
}

/* Which labels the output or the operands from `from` on still read. */
static void find_needed(const struct einsum *e, int from, bool *needed)
{
    memset(needed, 0, N_LABELS * sizeof *needed);
    for (int i = 0; i < e->out.n; i++)
        needed[e->out.label[i]] = true;
    for (int t = from; t < e->n_terms; t++)
        for (int i = 0; i < e->terms[t].n; i++)
            needed[e->terms[t].label[i]] = true;
}

static bool fold_operands(struct einsum *e)
{
    struct term *y = &e->terms[0];
    bool needed[N_LABELS];

    for (int t = 1; t < e->n_terms; t++) {
        struct term *b = &e->terms[t];

        find_needed(e, t, needed);
        sum_rest(e->node, y, needed);
        find_needed(e, t + 1, needed);
        for (int i = 0; i < y->n; i++)
            needed[y->label[i]] = true;
        sum_rest(e->node, b, needed);
        find_needed(e, t + 1, needed);
        if (!y->value || !b->value || !multiply(e, y, b, needed))
            return false;
    }
    find_needed(e, e->n_terms, needed);
    sum_rest(e->node, y, needed);
    return y->value != NULL;
}

bool convert_einsum(struct onnx_node *node)
{
    struct einsum e = { .node = node };

    if (!onnx_check_inputs(node, node->n_inputs > 1 ? node->n_inputs : 1, -1))
        return false;
    if (node->n_inputs > MAX_TERMS)
        return onnx_unsupported(node, "%d operands, relayc takes up to %d", node->n_inputs,
                                MAX_TERMS);
    for (int i = 0; i < node->n_inputs; i++)
        if (!onnx_check_kind(node, i, TAKES_NUMBER))
            return false;
    if (!parse(&e))
        return false;
    for (int i = 0; i < e.n_terms; i++) {
        spread(&e, &e.terms[i]);
        if (e.terms[i].value)
            take_diagonals(node, &e.terms[i]);
        if (!e.terms[i].value)
            return false;
    }
    if (!fold_operands(&e))
        return false;
    order_dims(node, &e.terms[0], e.out.label);
    return onnx_output(node, 0, e.terms[0].value);
}
