/* elementwise.c - a chain of element-wise operators.
 *
 * method   dims along which each operand either runs or repeats are merged; if one is left, it is a
 *          flat loop. Results that vectors quantise wait in a row on the stack */
#include <inttypes.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/expr/scalar.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "relay_ir/ops/qnn.h"

/* Groups of dims of y; group g ends with dim last[g]. */
struct loops {
    int n;
    int last[MAX_RANK];
    int64_t extent[MAX_RANK];
};

static bool accepts_elementwise(const struct region *region, const char **why)
{
    (void)region; /* scalar_accepts has checked every node */
    (void)why;
    return true;
}

/* Whether the operand has elements of its own along dim i of y. */
static bool runs_along(const struct node *node, int input, const struct type *y, int i)
{
    const struct type *x = &node->inputs[input]->type;
    const int dim = i - (y->rank - x->rank);

    if (node->op == OP_BIAS_ADD && input == 1)
        return i == node->attrs.axis.axis;
    if (node->op == OP_QNN_PWL && input > 0)
        return false;
    if (node->op == OP_QNN_LUT && input > 0)
        return i == qnn_vector_axis(node, input) && x->rank == 2 && x->dim[0] != 1;
    if (qnn_vector_axis(node, input) >= 0)
        return i == qnn_vector_axis(node, input) && x->dim[0] != 1;
    return dim >= 0 && x->dim[dim] != 1;
}

/* Whether some operand runs along just one of the dims a and b. Uniform constants do not count:
 * they are literals, but for tables. */
static bool is_border(const struct function *fn, const struct type *y, int a, int b)
{
    for (const struct node *n = fn->first; n; n = n->next)
        for (int i = 0; i < n->n_inputs; i++) {
            double number;

            if (n->inputs[i] && (n->op == OP_QNN_LUT || !value_uniform(n->inputs[i], &number)) &&
                runs_along(n, i, y, a) != runs_along(n, i, y, b))
                return true;
        }
    return false;
}

/* `pixels`: the last dim is a loop of its own. */
static struct loops find_loops(const struct function *fn, const struct type *y, bool pixels)
{
    struct loops loops = { .n = 0 };
    int before = -1;

    for (int i = 0; i < y->rank; i++) {
        if (y->dim[i] == 1)
            continue;
        if (before < 0 || is_border(fn, y, before, i) || (pixels && i == y->rank - 1))
            loops.extent[loops.n++] = 1;
        loops.extent[loops.n - 1] *= y->dim[i];
        loops.last[loops.n - 1] = i;
        before = i;
    }
    return loops;
}

enum { ROW = 64 }; /* results that wait on the stack to be quantised */

static bool goes_in_rows(const struct bind *bind, const struct type *y)
{
    const struct minifloat *format = dtype_minifloat(y->dtype);

    return format && minifloat_bits(format) == 8 && machine_has_deep_stack(bind->machine) &&
           type_elements(y) >= ROW;
}

static bool bind_in_rows(struct bind *bind, const struct type *y, struct position *position)
{
    const int64_t len = type_elements(y);
    struct epilogue_row row = { .i = "i", .n = "n", .most = "ROW" };

    position->linear = "at";
    for (row.multiple = ROW; len % row.multiple != 0; row.multiple /= 2)
        ;
    row.start = *position;
    row.start.linear = "start";
    bind_int(bind, "len", len);
    bind_int(bind, "row", ROW);
    keys_offer(bind->keys, "uses_oc", "");    /* there are no channels, … */
    keys_offer(bind->keys, "uses_start", ""); /* and a row begins there anyway */
    return bind_row_epilogue(bind, NULL, position, &row);
}

static void bind_flat(struct bind *bind, const struct type *y, struct position *position)
{
    bind_text(bind, "extents", "LEN = %" PRId64, type_elements(y));
    position->linear = "i";
}

/* The row-major index of the first n loops' coordinates. */
static const char *index_of_loops(struct bind *bind, int n)
{
    const char *at = n > 0 ? "i0" : "0"; /* none: there is one pixel */

    for (int i = 1; i < n; i++)
        at = arena_printf(bind->arena, i > 1 ? "(%s) * N%d + i%d" : "%s * N%d + i%d", at, i, i);
    return at;
}

static void bind_nested(struct bind *bind, const struct loops *loops, struct position *position)
{
    struct str extents = { .arena = bind->arena };

    for (int i = 0; i < loops->n; i++)
        str_printf(&extents, "%sN%d = %" PRId64, i ? ", " : "", i, loops->extent[i]);
    bind_text(bind, "extents", "%s", str_text(&extents));
    bind_int(bind, "n_loops", loops->n);
    bind_text(bind, "at", "%s", index_of_loops(bind, loops->n));
    position->linear = "at";
}

/* Some operand, or y, has a pixel stride: the last loop is over the elements of a pixel. */
static void bind_pixels(struct bind *bind, const struct loops *loops, bool single,
                        struct position *position)
{
    const int n = single ? loops->n : loops->n - 1; /* loops over pixels */
    const char *pixel = index_of_loops(bind, n);
    const struct operand y = operand_result(bind->region, 0);

    position->pixel = n > 1 ? arena_printf(bind->arena, "(%s)", pixel) : pixel;
    position->channel = single ? "0" : arena_printf(bind->arena, "i%d", loops->n - 1);
    if (!y.apart)
        return;
    position->linear = arena_printf(bind->arena, "(%s)", index_of_loops(bind, loops->n));
    bind_text(bind, "at", "%s * %" PRId64 " + %s", position->pixel, y.pixel_step,
              position->channel);
}

/* Whether a node's helpers compute for long: those made for vectorisation. */
static bool needs_function(struct bind *bind, const struct node *node)
{
    const char *needs = NULL;

    if (!scalar_text(bind->arena, node, &needs) || !needs)
        return false;
    needs = scalar_expand(bind, node, needs, NULL);
    for (const char *word = needs; *word; word += strspn(word, " ")) {
        const size_t n = strcspn(word, " ");
        const struct embedded_file *file =
            embedded_find(arena_printf(bind->arena, "runtime/embed/%.*s.h", (int)n, word));

        if (file && strstr(file->text, "INLINE_F32 float "))
            return true;
        word += n;
    }
    return false;
}

/* Other operators are bound by memory, and short loops are not whole vectors. */
static void bind_wide(struct bind *bind, int64_t innermost)
{
    enum { LANES = 16 };
    bool wide = false;

    if (bind->machine->lanes != 1 && innermost % LANES == 0)
        for (const struct node *n = bind->region->fn->first; n; n = n->next)
            wide = wide || needs_function(bind, n);
    if (wide)
        bind_helper(bind, "wide_loops");
    bind_text(bind, "wide", "%s", wide ? "WIDE_LOOPS " : "");
}

/* Operators with vector code of their own when they are the only node. */
static const struct alone {
    enum op op;
    enum dtype to; /* from f32 */
    int lanes;     /* fewest x86-64 lanes for which it is worth it */
    const char *one, *row;
} alone[] = {
    { OP_CAST, DTYPE_F16, 8, "f32_to_f16", "f32_to_f16_row" },
    { OP_EXP, DTYPE_F32, 16, "exp_f32", "exp_row_f32" },
};

static const struct alone *find_alone(const struct bind *bind, const struct type *y)
{
    const struct node *node = bind->region->fn->first;

    if (!node || node->next || bind->machine->arch != ARCH_X86_64)
        return NULL;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (node->op == alone[i].op && y->dtype == alone[i].to &&
            node->inputs[0]->type.dtype == DTYPE_F32 && bind->machine->lanes >= alone[i].lanes)
            return &alone[i];
    return NULL;
}

static bool bind_alone(struct bind *bind, const struct type *y)
{
    const struct alone *found = find_alone(bind, y);
    const char *helper;
    struct keys keys;

    if (!found)
        return false;
    bind_helper(bind, found->one);
    keys_init(&keys, bind->arena);
    helper = bind_own_helper(bind, found->row);
    if (!helper)
        helper = bind_new_helper(
            bind, found->row, arena_printf(bind->arena, "templates/helpers/%s.c.tmpl", found->row),
            &keys);
    bind_text(bind, "row_fn", "%s", helper);
    bind_text(bind, "x", "%s", bind_operand(bind, bind->region->fn->first->inputs[0]));
    bind_int(bind, "len", type_elements(y));
    bind_text(bind, "wide", "%s", "");
    return true;
}

static bool bind_elementwise(struct bind *bind)
{
    const struct function *fn = bind->region->fn;
    const struct type *y = &fn->ret->inputs[0]->type;
    const bool strided = pixels_are_apart(bind->region);
    const struct loops loops = find_loops(fn, y, strided);
    const bool nested = loops.n > 1 || strided, rows = !nested && goes_in_rows(bind, y);
    struct position position = { .rank = y->rank };

    bind_flag(bind, "nested", nested);
    bind_flag(bind, "rows", rows);
    if (!nested && !rows && bind_alone(bind, y)) {
        bind_flag(bind, "alone", true);
        bind_flag(bind, "in_loops", false);
        return true;
    }
    bind_flag(bind, "alone", false);
    bind_flag(bind, "in_loops", !rows);
    if (nested)
        bind_nested(bind, &loops, &position);
    else
        bind_flat(bind, y, &position);
    if (strided)
        bind_pixels(bind, &loops, y->dim[y->rank - 1] == 1, &position);
    for (int i = 0, k = 0; i < y->rank; i++) {
        position.coord[i] = y->dim[i] == 1 ? "0" : NULL;
        if (k < loops.n && loops.last[k] == i) {
            position.coord[i] = nested ? arena_printf(bind->arena, "i%d", k) : rows ? "at" : "i";
            k++;
        }
    }
    bind_text(bind, "linear", nested ? "at" : "i");
    bind_wide(bind, nested ? loops.extent[loops.n - 1] : type_elements(y));
    return rows ? bind_in_rows(bind, y, &position) : bind_epilogue(bind, NULL, &position);
}

const struct kernel kernel_elementwise = {
    .name = "elementwise",
    .sums = SUMS_NONE,
    .in_place = true,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .forms = { { CHAINS, accepts_elementwise, bind_elementwise } },
};
