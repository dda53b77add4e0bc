/* read_type.c - types in IR text, and the elements that stand in them and in constants. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/text/reader.h"
#include "relay_ir/text/words.h"

static bool read_dims(struct reader *reader, struct type *type)
{
    if (!reader_expect(reader, "("))
        return false;
    if (reader_accept(reader, ")"))
        return true;
    do {
        if (type->rank == MAX_RANK)
            return reader_fail(reader, "more than %d dimensions", MAX_RANK);
        if (!reader_number(reader, INT64_MAX, &type->dim[type->rank]))
            return false;
        type->rank++;
    } while (reader_accept(reader, ","));
    return reader_accept(reader, ")") || reader_expected(reader, "',' or ')'");
}

bool reader_element(struct reader *reader, enum dtype dtype, void *elements, int64_t i)
{
    reader_skip_blanks(reader);
    return element_parse(dtype, &reader->at, elements, i) ||
           reader_expected(reader, arena_printf(&reader->ctx->scratch, "an element of type %s",
                                                dtype_name(dtype)));
}

bool reader_elements(struct reader *reader, enum dtype dtype, int64_t n, void *elements)
{
    const size_t bytes = dtype_bytes(dtype);
    int64_t i = 0;

    for (; i < n; i++) {
        if (i > 0 && !reader_expect(reader, ","))
            return false;
        if (i > 0 && reader_accept(reader, "..."))
            break;
        if (!reader_element(reader, dtype, elements, i))
            return false;
    }
    if (i < n && i != 1)
        return reader_fail(reader, "'...' may only follow the first element");
    for (; i < n; i++)
        memcpy((char *)elements + (size_t)i * bytes, elements, bytes);
    return reader_expect(reader, "]");
}

bool reader_checksum(struct reader *reader, unsigned long *checksum)
{
    if (strspn(reader->at, "0123456789abcdef") != 8)
        return reader_expected(reader, "a checksum of 8 hexadecimal digits");
    *checksum = strtoul(reader->at, NULL, 16);
    reader->at += 8;
    return true;
}

/* --- what is known of the numbers ------------------------------------------------------------- */

static const char *vector_key(struct arena *arena, enum dtype dtype, unsigned long checksum,
                              int64_t n)
{
    return arena_printf(arena, "%s %08lx %" PRId64, dtype_name(dtype), checksum, n);
}

static void index_vector(struct map *vectors, enum dtype dtype, const void *data, int64_t n)
{
    if (data && n > MAX_WRITTEN_OUT)
        map_set(vectors, vector_key(vectors->arena, dtype, elements_checksum(dtype, data, n), n),
                (void *)(uintptr_t)data);
}

void reader_index_type(struct map *vectors, const struct type *type)
{
    if (!type->quant || (type->quant->kind != QTYPE_SCALED && type->quant->kind != QTYPE_BLOCKS))
        return;
    index_vector(vectors, DTYPE_F32, type->quant->scale, type->quant->n);
    index_vector(vectors, DTYPE_I32, type->quant->zero, type->quant->n);
}

/* NULL data where the text may do without them. */
static bool find_vector(struct reader *reader, enum dtype dtype, int64_t n, const void **data)
{
    unsigned long checksum = 0;

    if (!reader_checksum(reader, &checksum))
        return false;
    *data = reader->vectors
                ? map_get(reader->vectors, vector_key(&reader->ctx->scratch, dtype, checksum, n))
                : NULL;
    return *data || reader->zero_missing ||
           reader_fail(reader, "no %" PRId64 " scales with this checksum are at hand", n);
}

/* "[1, 2]", "[1, ...]" or "crc32:9f2c11aa"; where there is no axis, one number. */
static bool read_vector(struct reader *reader, enum dtype dtype, bool one, int64_t n,
                        const void **data)
{
    void *elements;

    if (!one && reader_accept(reader, "crc32:"))
        return find_vector(reader, dtype, n, data);
    if (n < 0 || n > MAX_TEXT_BYTES / (int64_t)dtype_bytes(dtype))
        return reader_fail(reader, "%" PRId64 " scales are too many for the text", n);
    elements = arena_alloc(&reader->ctx->perm, (size_t)n * dtype_bytes(dtype) + 1);
    *data = elements;
    return one ? reader_element(reader, dtype, elements, 0)
               : reader_expect(reader, "[") && reader_elements(reader, dtype, n, elements);
}

static bool read_real(struct reader *reader, const char *key, double *number)
{
    return reader_expect(reader, key) && reader_expect(reader, "=") &&
           reader_element(reader, DTYPE_F64, number, 0);
}

static bool read_calibrated(struct reader *reader, struct qtype *quant)
{
    quant->kind = QTYPE_CALIBRATED;
    return read_real(reader, "min", &quant->min) && reader_expect(reader, ",") &&
           read_real(reader, "max", &quant->max) && reader_expect(reader, ",") &&
           read_real(reader, "threshold", &quant->threshold);
}

static bool read_scaled(struct reader *reader, const struct type *type, struct qtype *quant)
{
    int64_t axis = -1;
    const void *scale = NULL, *zero = NULL;

    quant->kind = QTYPE_SCALED;
    if (reader_accept(reader, "axis") &&
        (!reader_expect(reader, "=") || !reader_number(reader, MAX_RANK - 1, &axis) ||
         !reader_expect(reader, ",")))
        return false;
    if (axis >= type->rank)
        return reader_fail(reader, "axis %" PRId64 " is out of range for shape %s", axis,
                           shape_text(&reader->ctx->scratch, type));
    quant->axis = (int)axis;
    quant->n = axis < 0 ? 1 : type->dim[axis];
    if (!reader_expect(reader, "scale") || !reader_expect(reader, "=") ||
        !read_vector(reader, DTYPE_F32, axis < 0, quant->n, &scale))
        return false;
    if (reader_accept(reader, ",") &&
        (!reader_expect(reader, "zero") || !reader_expect(reader, "=") ||
         !read_vector(reader, DTYPE_I32, axis < 0, quant->n, &zero)))
        return false;
    quant->scale = scale;
    quant->zero = zero;
    return true;
}

static bool read_blocks(struct reader *reader, const struct type *type, struct qtype *quant)
{
    const void *scale = NULL, *zero = NULL;

    quant->kind = QTYPE_BLOCKS;
    if (!reader_number(reader, TYPE_MAX_BYTES, &quant->block))
        return false;
    if (quant->block < 1)
        return reader_fail(reader, "blocks of 0 elements");
    quant->n = type_n_blocks(type, quant->block);
    if (!reader_expect(reader, ",") || !reader_expect(reader, "scale") ||
        !reader_expect(reader, "=") || !read_vector(reader, DTYPE_F32, false, quant->n, &scale))
        return false;
    if (reader_accept(reader, ",") &&
        (!reader_expect(reader, "zero") || !reader_expect(reader, "=") ||
         !read_vector(reader, DTYPE_I32, false, quant->n, &zero)))
        return false;
    quant->scale = scale;
    quant->zero = zero;
    return true;
}

/* Behind the element type, whose codec *quant has already. Sets the type's quant. */
static bool read_quant(struct reader *reader, struct type *type, struct qtype *quant)
{
    bool ok = true;

    quant->axis = -1;
    if (reader_accept(reader, "calibrated"))
        ok = reader_expect(reader, "(") && read_calibrated(reader, quant);
    else if (reader_accept(reader, "scaled"))
        ok = reader_expect(reader, "(") && read_scaled(reader, type, quant);
    else if (reader_accept(reader, "blocks"))
        ok = reader_expect(reader, "(") && read_blocks(reader, type, quant);
    else {
        type->quant = quant->format.name[0] ? quant : NULL;
        return true;
    }
    if (!ok || !reader_expect(reader, ")"))
        return false;
    if (quant->kind != QTYPE_CALIBRATED && !quant->scale) { /* missing, and may be */
        quant->kind = QTYPE_PLAIN;
        type->quant = quant->format.name[0] ? quant : NULL;
        return true;
    }
    type->quant = quant;
    return true;
}

/* "f32", "afp<3,2,7>" */
static bool read_element_type(struct reader *reader, struct type *type, struct qtype *quant)
{
    struct arena *scratch = &reader->ctx->scratch;
    const char *at;
    size_t n;

    reader_skip_blanks(reader);
    at = reader->at;
    n = word_length(at);
    if (at[n] == '<')
        n += strcspn(at + n, ">\n") + 1;
    if (n <= strlen(at) && strchr(arena_strndup(scratch, at, n), '<')) {
        type->dtype = DTYPE_AFP;
        if (!minifloat_from_name(arena_strndup(scratch, at, n), &quant->format))
            return reader_expected(reader, "an element type such as afp<4,3,7>");
    } else {
        type->dtype = dtype_from_name(arena_strndup(scratch, at, word_length(at)));
        n = word_length(at);
    }
    if (type->dtype == DTYPE_NONE)
        return reader_expected(reader, "an element type such as f32");
    reader->at += n;
    return true;
}

bool reader_type(struct reader *reader, bool constant, struct type *type)
{
    struct qtype *quant = arena_new(&reader->ctx->perm, struct qtype);
    const char *problem;

    *type = (struct type){ .rank = 0 };
    if (!read_dims(reader, type) || !read_element_type(reader, type, quant))
        return false;
    if (!type_check_size(reader->ctx, NULL, type)) {
        diag_note(reader->ctx, "in line %d of the IR text", reader_line(reader));
        return false;
    }
    if (!read_quant(reader, type, quant))
        return false;
    problem = type_problem(&reader->ctx->scratch, type, constant);
    return !problem || reader_fail(reader, "%s", problem);
}
