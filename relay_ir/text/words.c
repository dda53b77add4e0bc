#include "relay_ir/text/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

size_t word_length(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/-");

    while (n > 0 && text[n - 1] == ':')
        n--;
    return n;
}

unsigned long elements_checksum(enum dtype dtype, const void *data, int64_t n)
{
    return crc32_z(crc32(0, NULL, 0), data, (size_t)n * dtype_bytes(dtype));
}

unsigned long payload_checksum(const struct value *value)
{
    return elements_checksum(value->type.dtype, value->data, type_elements(&value->type));
}

/* Bit patterns, so that the text does not depend on the byte order of the host. */
static uint64_t load_bits(size_t bytes, const void *at)
{
    switch (bytes) {
    case 1: return *(const uint8_t *)at;
    case 2: return *(const uint16_t *)at;
    case 4: return *(const uint32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

static void store_bits(size_t bytes, void *at, uint64_t bits)
{
    switch (bytes) {
    case 1: *(uint8_t *)at = (uint8_t)bits; break;
    case 2: *(uint16_t *)at = (uint16_t)bits; break;
    case 4: *(uint32_t *)at = (uint32_t)bits; break;
    default: *(uint64_t *)at = bits; break;
    }
}

static bool is_whole(enum dtype dtype)
{
    return dtype_is_integer(dtype) || dtype_kind(dtype) == KIND_BOOL ||
           dtype_kind(dtype) == KIND_NIBBLE;
}

static bool reads_back(enum dtype dtype, const char *text, uint64_t bits)
{
    uint64_t element = 0;

    return element_parse(dtype, &text, &element, 0) &&
           load_bits(dtype_bytes(dtype), &element) == bits;
}

void print_element(struct str *out, enum dtype dtype, const void *data, int64_t i)
{
    const size_t bytes = dtype_bytes(dtype);
    const uint64_t bits = load_bits(bytes, (const char *)data + (size_t)i * bytes);
    char text[40] = "";

    if (dtype == DTYPE_U64) {
        snprintf(text, sizeof text, "%" PRIu64, bits);
    } else if (is_whole(dtype)) {
        snprintf(text, sizeof text, "%" PRId64, dtype_load_int(dtype, data, i));
    } else if (dtype_is_float(dtype)) {
        const double number = dtype_load(dtype, data, i);

        for (int digits = 6; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, number);
            if (reads_back(dtype, text, bits))
                break;
        }
    }
    if (!reads_back(dtype, text, bits))
        snprintf(text, sizeof text, "0x%0*" PRIx64, (int)bytes * 2, bits);
    str_add(out, text);
}

void print_elements(struct str *out, enum dtype dtype, const void *data, int64_t n)
{
    const size_t bytes = dtype_bytes(dtype);
    const bool uniform =
        n > 1 && memcmp(data, (const char *)data + bytes, ((size_t)n - 1) * bytes) == 0;

    if (n > MAX_WRITTEN_OUT && !uniform) {
        str_printf(out, "crc32:%08lx", elements_checksum(dtype, data, n));
        return;
    }
    str_add(out, "[");
    for (int64_t i = 0; i < (uniform ? 1 : n); i++) {
        str_add(out, i ? ", " : "");
        print_element(out, dtype, data, i);
    }
    str_add(out, uniform ? ", ...]" : "]");
}

/* Of elements of less than 8 bits, the bits above are 0, or those of the sign. */
static bool fits_code(enum dtype dtype, const void *at)
{
    const int bits = dtype_packed_bits(dtype);
    const unsigned byte = *(const uint8_t *)at;

    if (bits < 8 && dtype_is_signed(dtype))
        return byte < 1U << (bits - 1) || byte >= 256U - (1U << (bits - 1));
    return dtype_bytes(dtype) > 1 || byte < 1U << bits;
}

static bool parse_bits(enum dtype dtype, const char **text, void *at)
{
    const size_t n = strspn(*text + 2, "0123456789abcdefABCDEF");

    if (n == 0 || n > 2 * dtype_bytes(dtype))
        return false;
    store_bits(dtype_bytes(dtype), at, strtoull(*text + 2, NULL, 16));
    *text += 2 + n;
    return fits_code(dtype, at);
}

static bool parse_integer(enum dtype dtype, const char **text, void *at)
{
    int64_t wanted;
    char *end;

    errno = 0;
    if (dtype == DTYPE_U64 && **text != '-')
        wanted = (int64_t)strtoull(*text, &end, 10);
    else
        wanted = strtoll(*text, &end, 10);
    dtype_store_int(dtype, at, 0, wanted);
    if (end == *text || errno || dtype_load_int(dtype, at, 0) != wanted ||
        (dtype == DTYPE_U64 && **text == '-'))
        return false;
    *text = end;
    return true;
}

bool element_parse(enum dtype dtype, const char **text, void *data, int64_t i)
{
    char *const at = (char *)data + (size_t)i * dtype_bytes(dtype);
    double number;
    char *end;

    if (strspn(*text, "+-0123456789.infan") == 0) /* no white space, as strtod would take */
        return false;
    if (str_starts(*text, "0x"))
        return parse_bits(dtype, text, at);
    if (is_whole(dtype))
        return parse_integer(dtype, text, at);
    number = strtod(*text, &end);
    if (end == *text || !dtype_is_float(dtype))
        return false;
    dtype_store(dtype, at, 0, number);
    *text = end;
    return true;
}
