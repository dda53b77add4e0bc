#include <stdlib.h>
#include <string.h>

#include "relay_ir/json/parser.h"
#include "relay_ir/text/words.h"
#include "relay_ir/json/element.h"

enum { ALIGNMENT = 64 };

static bool read_values(struct json_parser *parser, const struct json_path *place,
                        const cJSON *object, const struct type *type, const void **data)
{
    const struct json_path values = { .up = place, .key = "values" };
    const cJSON *list, *item;
    const int n = json_list(&parser->errors, place, object, "values", &list);
    void *elements;
    int i = 0;

    if (n < 0)
        return false;
    if (n != type_elements(type))
        return json_fail(&parser->errors, &values, "found %d elements, wanted %lld, of type %s", n,
                         (long long)type_elements(type), type_text(&parser->ctx->scratch, type));
    elements = constant_alloc(parser->section->fn, type);
    cJSON_ArrayForEach(item, list)
    {
        const struct json_path at = { .up = &values, .index = i };

        if (!json_to_element(item, type->dtype, elements, i++))
            return json_wrong(&parser->errors, &at, item,
                              arena_printf(&parser->ctx->scratch, "an element of type %s",
                                           dtype_name(type->dtype)));
    }
    *data = elements;
    return true;
}

static bool read_checksum(struct json_parser *parser, const struct json_path *place,
                          const cJSON *object, unsigned long *checksum)
{
    const struct json_path at = { .up = place, .key = "crc32" };
    const char *text;

    if (!json_text_member(&parser->errors, place, object, "crc32", NULL, &text))
        return false;
    *checksum = strtoul(text, NULL, 16);
    return (strlen(text) == 8 && strspn(text, "0123456789abcdef") == 8) ||
           json_wrong(&parser->errors, &at, json_get(object, "crc32"),
                      "a checksum of 8 hexadecimal digits");
}

/* The payload stays in the mapped file. */
static bool find_payload(struct json_parser *parser, const struct json_path *place,
                         const cJSON *object, const struct type *type, const void **data)
{
    const struct json_path offset_at = { .up = place, .key = "offset" };
    const int64_t size = parser->data ? (int64_t)parser->data->size : 0;
    const int64_t wanted = (int64_t)type_bytes(type);
    struct value value = { .type = *type };
    unsigned long checksum;
    int64_t offset, bytes;

    if (!parser->data)
        return json_fail(&parser->errors, place,
                         "found no \"values\", wanted them, or a \"data\" file");
    if (!json_int_member(&parser->errors, place, object, "offset", -1, 0, size, &offset) ||
        !json_int_member(&parser->errors, place, object, "bytes", -1, wanted, wanted, &bytes) ||
        !read_checksum(parser, place, object, &checksum))
        return false;
    if (offset % ALIGNMENT || bytes > size - offset)
        return json_fail(&parser->errors, &offset_at,
                         "found %lld, wanted a multiple of %d with %lld bytes behind it in %s, "
                         "which has %lld",
                         (long long)offset, ALIGNMENT, (long long)bytes, parser->data_file,
                         (long long)size);
    value.data = parser->data->data + offset;
    if (payload_checksum(&value) != checksum)
        return json_fail(&parser->errors, place, "found the checksum %08lx in %s, wanted %08lx",
                         payload_checksum(&value), parser->data_file, checksum);
    *data = value.data;
    return true;
}

bool json_constant(struct json_parser *parser, const struct json_path *place, const cJSON *item)
{
    static const char *const keys[] = { "name",  JSON_TYPE_KEYS, "values", "offset",
                                        "bytes", "crc32",        NULL };
    const char *name = json_name(parser, item);
    const void *data = NULL;
    struct type type;

    if (!json_object(&parser->errors, place, item, keys) ||
        !json_type(parser, place, item, true, &type))
        return false;
    if (json_get(item, "values") && json_get(item, "offset"))
        return json_fail(&parser->errors, place,
                         "found \"values\" and \"offset\", wanted one of them");
    if (!(json_get(item, "values") ? read_values(parser, place, item, &type, &data)
                                   : find_payload(parser, place, item, &type, &data)))
        return false;
    if (name)
        constant_new(parser->section->fn, name, &type, data);
    return name != NULL;
}
