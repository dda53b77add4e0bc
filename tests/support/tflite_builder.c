#include "tests/support/tflite_builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { MOST = 64, CUSTOM = 32 };

struct tensor {
    const char *name;
    int type, n_dims, n_scales, axis;
    int32_t dim[8];
    const void *data;
    size_t n_data;
    float scales[MOST];
    int64_t zero;
    int is_variable;
};

struct operator
{
    int code, version, options_type;
    const char *custom, *inputs, *outputs, *options;
};

struct tflite_builder {
    struct arena arena;
    int n_tensors, n_operators;
    struct tensor tensors[MOST];
    struct operator operators[MOST];
    uint8_t *bytes;
    size_t n, capacity;
};

struct tflite_builder *tflite_new(void)
{
    return calloc(1, sizeof(struct tflite_builder));
}

void tflite_free(struct tflite_builder *b)
{
    arena_release(&b->arena);
    free(b->bytes);
    free(b);
}

static size_t element_bytes(int type)
{
    return type == TFLITE_I8 || type == TFLITE_U8 ? 1 : 4;
}

void tflite_tensor(struct tflite_builder *b, const char *name, int type, const char *shape,
                   const void *data, float scale, int64_t zero)
{
    struct tensor *t = &b->tensors[b->n_tensors++];

    assert(b->n_tensors <= MOST);
    *t = (struct tensor){ .name = name, .type = type, .data = data, .zero = zero };
    t->n_data = element_bytes(type);
    for (char *at = (char *)(uintptr_t)shape; *at; at += *at == ',') {
        t->dim[t->n_dims] = (int32_t)strtol(at, &at, 10);
        t->n_data *= (size_t)t->dim[t->n_dims++];
    }
    t->n_scales = scale > 0;
    t->scales[0] = scale;
}

void tflite_scales(struct tflite_builder *b, int n, const float *scales, int axis)
{
    struct tensor *t = &b->tensors[b->n_tensors - 1];

    t->n_scales = n;
    t->axis = axis;
    memcpy(t->scales, scales, (size_t)n * sizeof *scales);
}

void tflite_variable(struct tflite_builder *b)
{
    b->tensors[b->n_tensors - 1].is_variable = 1;
}

void tflite_operator(struct tflite_builder *b, int code, int version, const char *inputs,
                     const char *outputs, int options_type, const char *options)
{
    assert(b->n_operators < MOST);
    b->operators[b->n_operators++] = (struct operator){ .code = code,
                                                        .version = version,
                                                        .inputs = inputs,
                                                        .outputs = outputs,
                                                        .options_type = options_type,
                                                        .options = options };
}

void tflite_custom(struct tflite_builder *b, const char *name, const char *inputs,
                   const char *outputs)
{
    tflite_operator(b, CUSTOM, 1, inputs, outputs, 0, NULL);
    b->operators[b->n_operators - 1].custom = name;
}

/* --- the file --------------------------------------------------------------------------------- */

static size_t put(struct tflite_builder *b, const void *bytes, size_t n)
{
    const size_t at = b->n;

    while (b->n + n > b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 4096;
        b->bytes = realloc(b->bytes, b->capacity);
    }
    if (bytes)
        memcpy(b->bytes + at, bytes, n);
    else
        memset(b->bytes + at, 0, n);
    b->n += n;
    return at;
}

static void align(struct tflite_builder *b, size_t to)
{
    while (b->n % to)
        put(b, NULL, 1);
}

/* Offsets point forward: what they point to is written later, then this. */
static void point(struct tflite_builder *b, size_t from, size_t to)
{
    const uint32_t offset = (uint32_t)(to - from);

    memcpy(b->bytes + from, &offset, 4);
}

/* A table of n fields of 8 bytes each; mask: which of them there are. */
static size_t table(struct tflite_builder *b, int n, unsigned mask)
{
    uint16_t list[2 + 16] = { (uint16_t)(4 + 2 * n), (uint16_t)(8 + 8 * n) };
    size_t at;
    int32_t back;

    for (int i = 0; i < n; i++)
        list[2 + i] = mask >> i & 1 ? (uint16_t)(8 + 8 * i) : 0;
    align(b, 8);
    at = put(b, list, 4 + 2 * (size_t)n);
    align(b, 8);
    back = (int32_t)(b->n - at);
    at = put(b, NULL, 8 + 8 * (size_t)n);
    memcpy(b->bytes + at, &back, 4);
    return at;
}

static size_t field(size_t table, int i)
{
    return table + 8 + 8 * (size_t)i;
}

static void set(struct tflite_builder *b, size_t table, int i, int64_t value)
{
    memcpy(b->bytes + field(table, i), &value, 8);
}

static size_t vector(struct tflite_builder *b, size_t n, const void *data, size_t bytes)
{
    const uint32_t count = (uint32_t)n;
    size_t at;

    align(b, 16);
    put(b, NULL, 12); /* so that the data are aligned */
    at = put(b, &count, 4);
    put(b, data, n * bytes);
    return at;
}

static void set_text(struct tflite_builder *b, size_t table, int i, const char *text)
{
    point(b, field(table, i), vector(b, strlen(text), text, 1));
}

static void set_list(struct tflite_builder *b, size_t table, int i, const char *text)
{
    int32_t list[MOST];
    size_t n = 0;

    for (char *at = (char *)(uintptr_t)text; *at; at += *at == ' ')
        list[n++] = (int32_t)strtol(at, &at, 10);
    point(b, field(table, i), vector(b, n, list, 4));
}

static void put_tensor(struct tflite_builder *b, size_t from, const struct tensor *t, int buffer)
{
    const size_t at = table(b, 6, 63);
    const int64_t zeros[MOST] = { t->zero };

    point(b, from, at);
    set(b, at, 1, t->type);
    set(b, at, 2, buffer);
    set(b, at, 5, t->is_variable);
    point(b, field(at, 0), vector(b, (size_t)t->n_dims, t->dim, 4));
    set_text(b, at, 3, t->name);
    {
        const size_t quant = table(b, 7, 1 << 2 | 1 << 3 | 1 << 6);

        point(b, field(at, 4), quant);
        point(b, field(quant, 2), vector(b, (size_t)t->n_scales, t->scales, 4));
        point(b, field(quant, 3), vector(b, (size_t)t->n_scales, zeros, 8));
        set(b, quant, 6, t->axis);
    }
}

static void put_options(struct tflite_builder *b, size_t from, const char *text)
{
    int64_t values[16];
    unsigned mask = 0;
    size_t at;
    int n = 0;

    for (char *c = (char *)(uintptr_t)text; *c; c += *c == ' ', n++) {
        const char kind = *c++;

        values[n] = 0;
        if (kind == '-')
            continue;
        mask |= 1u << n;
        if (kind == 'f') {
            const float number = strtof(c, &c);

            memcpy(&values[n], &number, 4);
        } else {
            values[n] = strtol(c, &c, 10);
        }
    }
    at = table(b, n, mask);
    point(b, from, at);
    for (int i = 0; i < n; i++)
        set(b, at, i, values[i]);
}

static void put_operator(struct tflite_builder *b, size_t from, const struct operator* op, int code)
{
    const size_t at = table(b, 5, op->options ? 31 : 7);

    point(b, from, at);
    set(b, at, 0, code);
    set_list(b, at, 1, op->inputs);
    set_list(b, at, 2, op->outputs);
    if (!op->options)
        return;
    set(b, at, 3, op->options_type);
    put_options(b, field(at, 4), op->options);
}

/* Reserves a vector of n offsets, and gives the first one's place. */
static size_t offsets(struct tflite_builder *b, size_t table, int i, size_t n)
{
    const size_t at = vector(b, n, NULL, 4);

    point(b, field(table, i), at);
    return at + 4;
}

const uint8_t *tflite_bytes(struct tflite_builder *b, const char *inputs, const char *outputs,
                            size_t *n)
{
    size_t root, graph, at;

    b->n = 0;
    put(b, "\0\0\0\0TFL3", 8);
    root = table(b, 5, 31);
    point(b, 0, root);
    set(b, root, 0, 3);
    set_text(b, root, 3, "made by a test");
    at = offsets(b, root, 1, (size_t)b->n_operators);
    for (int i = 0; i < b->n_operators; i++) {
        const struct operator* op = & b->operators[i];
        const size_t code = table(b, 4, op->custom ? 15 : 13);

        point(b, at + 4 * (size_t)i, code);
        set(b, code, 0, op->code < 127 ? op->code : 127);
        set(b, code, 2, op->version);
        set(b, code, 3, op->code);
        if (op->custom)
            set_text(b, code, 1, op->custom);
    }
    at = offsets(b, root, 4, 1 + (size_t)b->n_tensors);
    for (int i = 0; i <= b->n_tensors; i++) {
        const struct tensor *t = i ? &b->tensors[i - 1] : NULL;
        const size_t buffer = table(b, 1, t && t->data);

        point(b, at + 4 * (size_t)i, buffer);
        if (t && t->data)
            point(b, field(buffer, 0), vector(b, t->n_data, t->data, 1));
    }
    at = offsets(b, root, 2, 1);
    graph = table(b, 4, 15);
    point(b, at, graph);
    set_list(b, graph, 1, inputs);
    set_list(b, graph, 2, outputs);
    at = offsets(b, graph, 0, (size_t)b->n_tensors);
    for (int i = 0; i < b->n_tensors; i++)
        put_tensor(b, at + 4 * (size_t)i, &b->tensors[i], 1 + i);
    at = offsets(b, graph, 3, (size_t)b->n_operators);
    for (int i = 0; i < b->n_operators; i++)
        put_operator(b, at + 4 * (size_t)i, &b->operators[i], i);
    *n = b->n;
    return b->bytes;
}
