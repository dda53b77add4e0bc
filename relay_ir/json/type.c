/* type.c - "dtype", "shape" and "quant" of a value: written and read. docs/guide/graph-json.md has
 * the schema. */
#include <string.h>

#include "relay_ir/json/parser.h"
#include "relay_ir/json/print.h"
#include "relay_ir/json/element.h"
#include "base/json/scalar.h"

static void add(cJSON *object, const char *key, cJSON *item)
{
    cJSON_AddItemToObject(object, key, item);
}

/* All of them, even if they are one: programs need no second form. */
static cJSON *vector_item(enum dtype dtype, const void *data, int64_t n)
{
    cJSON *list = cJSON_CreateArray();

    for (int64_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, json_element(dtype, data, i));
    return list;
}

static cJSON *quant_item(const struct qtype *quant)
{
    cJSON *item = cJSON_CreateObject();

    if (quant->kind == QTYPE_CALIBRATED) {
        add(item, "min", json_real(quant->min));
        add(item, "max", json_real(quant->max));
        add(item, "threshold", json_real(quant->threshold));
        return item;
    }
    if (quant->kind == QTYPE_BLOCKS)
        add(item, "block", json_int(quant->block));
    else if (quant->axis >= 0)
        add(item, "axis", json_int(quant->axis));
    add(item, "scale", vector_item(DTYPE_F32, quant->scale, quant->n));
    if (quant->zero)
        add(item, "zero", vector_item(DTYPE_I32, quant->zero, quant->n));
    return item;
}

void json_add_type(cJSON *item, const struct type *type)
{
    static const char *const keys[] = { NULL, "calibrated", "scaled", "blocks" };
    const enum qtype_kind kind = type->quant ? type->quant->kind : QTYPE_PLAIN;
    const struct minifloat *codec = type_minifloat(type);
    cJSON *shape = cJSON_CreateArray();

    add(item, "dtype", json_text(codec ? codec->name : dtype_name(type->dtype)));
    for (int i = 0; i < type->rank; i++)
        cJSON_AddItemToArray(shape, json_int(type->dim[i]));
    add(item, "shape", shape);
    if (keys[kind])
        add(item, keys[kind], quant_item(type->quant));
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_real(struct json_parser *parser, const struct json_path *place,
                      const cJSON *object, const char *key, double *number)
{
    const struct json_path at = { .up = place, .key = key };
    const cJSON *item = json_get(object, key);

    return (item && json_to_real(item, number)) ||
           json_wrong(&parser->errors, &at, item, "a number");
}

/* A list of n elements, or, where the caller asks for no number (-1), of any number. */
static bool read_vector(struct json_parser *parser, const struct json_path *place,
                        const cJSON *object, const char *key, enum dtype dtype, int64_t n,
                        void **data)
{
    const struct json_path vector = { .up = place, .key = key };
    const cJSON *list, *item;
    const int found = json_list(&parser->errors, place, object, key, &list);
    int i = 0;

    if (found < 0)
        return false;
    if (found != n)
        return json_fail(&parser->errors, &vector, "found %d elements, wanted %lld", found,
                         (long long)n);
    *data = arena_alloc(&parser->ctx->perm, (size_t)n * dtype_bytes(dtype) + 1);
    cJSON_ArrayForEach(item, list)
    {
        const struct json_path at = { .up = &vector, .index = i };

        if (!json_to_element(item, dtype, *data, i++))
            return json_wrong(&parser->errors, &at, item,
                              dtype == DTYPE_I32 ? "a whole number of 32 bits" : "a number");
    }
    return true;
}

static bool read_calibrated(struct json_parser *parser, const struct json_path *place,
                            const cJSON *item, struct qtype *quant)
{
    static const char *const keys[] = { "min", "max", "threshold", NULL };
    bool ok = json_object(&parser->errors, place, item, keys);

    if (!cJSON_IsObject(item))
        return false;
    quant->kind = QTYPE_CALIBRATED;
    ok = read_real(parser, place, item, "min", &quant->min) && ok;
    ok = read_real(parser, place, item, "max", &quant->max) && ok;
    return read_real(parser, place, item, "threshold", &quant->threshold) && ok;
}

static bool read_scaled(struct json_parser *parser, const struct json_path *place,
                        const cJSON *item, const struct type *type, struct qtype *quant)
{
    static const char *const keys[] = { "axis", "scale", "zero", NULL };
    void *scale = NULL, *zero = NULL;
    int64_t axis;

    if (!json_object(&parser->errors, place, item, keys) ||
        !json_int_member(&parser->errors, place, item, "axis", -1, -1, type->rank - 1, &axis))
        return false;
    quant->kind = QTYPE_SCALED;
    quant->axis = (int)axis;
    quant->n = axis < 0 ? 1 : type->dim[axis];
    if (!read_vector(parser, place, item, "scale", DTYPE_F32, quant->n, &scale) ||
        (json_get(item, "zero") &&
         !read_vector(parser, place, item, "zero", DTYPE_I32, quant->n, &zero)))
        return false;
    quant->scale = scale;
    quant->zero = zero;
    return true;
}

static bool read_blocks(struct json_parser *parser, const struct json_path *place,
                        const cJSON *item, const struct type *type, struct qtype *quant)
{
    static const char *const keys[] = { "block", "scale", "zero", NULL };
    void *scale = NULL, *zero = NULL;

    if (!json_object(&parser->errors, place, item, keys) ||
        !json_int_member(&parser->errors, place, item, "block", 0, 1, TYPE_MAX_BYTES,
                         &quant->block))
        return false;
    quant->kind = QTYPE_BLOCKS;
    quant->n = type_n_blocks(type, quant->block);
    if (!read_vector(parser, place, item, "scale", DTYPE_F32, quant->n, &scale) ||
        (json_get(item, "zero") &&
         !read_vector(parser, place, item, "zero", DTYPE_I32, quant->n, &zero)))
        return false;
    quant->scale = scale;
    quant->zero = zero;
    return true;
}

static bool read_quant(struct json_parser *parser, const struct json_path *place,
                       const cJSON *object, const struct type *type, struct qtype *quant)
{
    const cJSON *calibrated = json_get(object, "calibrated");
    const cJSON *scaled = json_get(object, "scaled"), *blocks = json_get(object, "blocks");
    const struct json_path at = { .up = place,
                                  .key = calibrated ? "calibrated"
                                         : scaled   ? "scaled"
                                                    : "blocks" };

    quant->axis = -1;
    if (!calibrated + !scaled + !blocks < 2)
        return json_fail(&parser->errors, place,
                         "found two of \"calibrated\", \"scaled\" and \"blocks\", wanted one");
    if (calibrated)
        return read_calibrated(parser, &at, calibrated, quant);
    if (scaled)
        return read_scaled(parser, &at, scaled, type, quant);
    return !blocks || read_blocks(parser, &at, blocks, type, quant);
}

static bool read_shape(struct json_parser *parser, const struct json_path *place,
                       const cJSON *object, struct type *type)
{
    const struct json_path shape = { .up = place, .key = "shape" };
    const cJSON *list, *item;
    const int n = json_list(&parser->errors, place, object, "shape", &list);

    if (n > MAX_RANK)
        return json_fail(&parser->errors, &shape, "found %d extents, wanted at most %d", n,
                         MAX_RANK);
    if (n < 0)
        return false;
    cJSON_ArrayForEach(item, list)
    {
        const struct json_path at = { .up = &shape, .index = type->rank };

        if (!json_to_int(item, &type->dim[type->rank]) || type->dim[type->rank] < 0)
            return json_wrong(&parser->errors, &at, item, "a whole number of 0 or more");
        type->rank++;
    }
    return true;
}

/* "f32", "afp<3,2,7>" */
static bool read_dtype(struct json_parser *parser, const struct json_path *place,
                       const cJSON *object, struct type *type, struct qtype *quant)
{
    const struct json_path at = { .up = place, .key = "dtype" };
    const char *name;

    if (!json_text_member(&parser->errors, place, object, "dtype", NULL, &name))
        return false;
    type->dtype = dtype_from_name(name);
    if (strncmp(name, "afp<", 4) == 0 && minifloat_from_name(name, &quant->format))
        type->dtype = DTYPE_AFP;
    return type->dtype != DTYPE_NONE || json_wrong(&parser->errors, &at, json_get(object, "dtype"),
                                                   "an element type such as f32 or afp<4,3,7>");
}

bool json_type(struct json_parser *parser, const struct json_path *place, const cJSON *object,
               bool constant, struct type *type)
{
    struct qtype *quant = arena_new(&parser->ctx->perm, struct qtype);
    const char *problem;
    bool ok;

    *type = (struct type){ .rank = 0 };
    ok = read_dtype(parser, place, object, type, quant);
    if (!read_shape(parser, place, object, type) || !ok)
        return false;
    if (!type_check_size(parser->ctx, NULL, type)) {
        json_note(&parser->errors, place);
        return false;
    }
    if (!read_quant(parser, place, object, type, quant))
        return false;
    if (quant->kind != QTYPE_PLAIN || quant->format.name[0])
        type->quant = quant;
    problem = type_problem(&parser->ctx->scratch, type, constant);
    return !problem || json_fail(&parser->errors, place, "%s", problem);
}
