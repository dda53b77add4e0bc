#include "frontend/tflite/flatbuffer.h"

#include <string.h>

static void fail(struct flatbuffer *file, const char *problem, size_t at)
{
    if (file->problem)
        return;
    file->problem = problem;
    file->problem_at = at;
}

const char *flatbuffer_problem(struct flatbuffer *file, size_t *at)
{
    const char *problem = file->problem;

    *at = file->problem_at;
    file->problem = NULL;
    return problem;
}

/* n bytes at `at` are in the file. */
static bool holds(const struct flatbuffer *file, size_t at, size_t n)
{
    return at <= file->n && n <= file->n - at;
}

/* Little-endian, of 1, 2, 4 or 8 bytes; the caller has checked that they are there. */
static uint64_t bits_at(const uint8_t *bytes, int n)
{
    uint64_t bits = 0;

    for (int i = 0; i < n; i++)
        bits |= (uint64_t)bytes[i] << (8 * i);
    return bits;
}

static int64_t signed_at(const uint8_t *bytes, int n)
{
    const uint64_t bits = bits_at(bytes, n), sign = (uint64_t)1 << (8 * n - 1);

    return (int64_t)((bits ^ sign) - sign);
}

static float float_at(const uint8_t *bytes)
{
    const uint32_t bits = (uint32_t)bits_at(bytes, 4);
    float number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

/* What the offset at `at` points to; 0 after a problem. Offsets point forward. */
static size_t target(struct flatbuffer *file, size_t at)
{
    size_t to;

    if (!holds(file, at, 4)) {
        fail(file, "an offset is outside of the file", at);
        return 0;
    }
    to = at + (size_t)bits_at(file->bytes + at, 4);
    if (to != at && holds(file, to, 4))
        return to;
    fail(file, "an offset points out of the file", at);
    return 0;
}

static struct fb_table table_at(struct flatbuffer *file, size_t at)
{
    struct fb_table table = { .file = file };
    int64_t vtable;
    size_t vtable_size;

    if (!at || !holds(file, at, 4)) {
        fail(file, "a table is outside of the file", at);
        return table;
    }
    vtable = (int64_t)at - signed_at(file->bytes + at, 4);
    if (vtable < 0 || !holds(file, (size_t)vtable, 4)) {
        fail(file, "the list of a table's fields is outside of the file", at);
        return table;
    }
    vtable_size = (size_t)bits_at(file->bytes + vtable, 2);
    table.size = (size_t)bits_at(file->bytes + vtable + 2, 2);
    if (vtable_size < 4 || vtable_size % 2 || !holds(file, (size_t)vtable, vtable_size) ||
        table.size < 4 || !holds(file, at, table.size)) {
        fail(file, "a table, or the list of its fields, is cut off", at);
        return (struct fb_table){ .file = file };
    }
    table.at = at;
    table.vtable = (size_t)vtable;
    table.n_fields = (int)(vtable_size / 2 - 2);
    return table;
}

struct fb_table fb_root(struct flatbuffer *file)
{
    return table_at(file, target(file, 0));
}

/* Where the field's n bytes lie; 0 = absent, or after a problem. */
static size_t field_at(const struct fb_table *table, int field, size_t n)
{
    size_t offset;

    if (!table->at || field >= table->n_fields)
        return 0;
    offset = (size_t)bits_at(table->file->bytes + table->vtable + 4 + 2 * (size_t)field, 2);
    if (!offset)
        return 0;
    if (offset >= 4 && n <= table->size && offset <= table->size - n)
        return table->at + offset;
    fail(table->file, "a field lies outside of its table", table->at);
    return 0;
}

bool fb_has(const struct fb_table *table, int field)
{
    return field_at(table, field, 1) != 0;
}

int64_t fb_int(const struct fb_table *table, int field, int bytes, int64_t missing)
{
    const size_t at = field_at(table, field, (size_t)bytes);

    return at ? signed_at(table->file->bytes + at, bytes) : missing;
}

double fb_float(const struct fb_table *table, int field, double missing)
{
    const size_t at = field_at(table, field, 4);

    return at ? (double)float_at(table->file->bytes + at) : missing;
}

struct fb_table fb_table(const struct fb_table *table, int field)
{
    const size_t at = field_at(table, field, 4), to = at ? target(table->file, at) : 0;

    return to ? table_at(table->file, to) : (struct fb_table){ .file = table->file };
}

struct fb_vector fb_vector(const struct fb_table *table, int field, size_t element_bytes)
{
    const size_t at = field_at(table, field, 4), to = at ? target(table->file, at) : 0;
    struct fb_vector vector = { .file = table->file };

    if (!to)
        return vector;
    vector.n = (size_t)bits_at(table->file->bytes + to, 4);
    if (vector.n > (table->file->n - to - 4) / element_bytes) {
        fail(table->file, "a vector is cut off", to);
        vector.n = 0;
        return vector;
    }
    vector.data = table->file->bytes + to + 4;
    return vector;
}

struct fb_table fb_element(const struct fb_vector *tables, size_t i)
{
    const size_t at = (size_t)(tables->data - tables->file->bytes) + 4 * i;
    const size_t to = target(tables->file, at);

    return to ? table_at(tables->file, to) : (struct fb_table){ .file = tables->file };
}

int64_t fb_int_at(const struct fb_vector *vector, size_t i, int bytes)
{
    return signed_at(vector->data + i * (size_t)bytes, bytes);
}

float fb_float_at(const struct fb_vector *vector, size_t i)
{
    return float_at(vector->data + 4 * i);
}
