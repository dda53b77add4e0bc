/* attrs.h - the attribute struct of each operator, generated from attrs.def, and functions that
 * print, parse and compare them. Attributes are plain data in the module's arena; copy by
 * assignment. */
#ifndef RELAY_IR_ATTRS_H
#define RELAY_IR_ATTRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/str.h"
#include "relay_ir/type.h"

enum { MAX_INTS = 2 * MAX_RANK };

struct ints {
    int n;
    int64_t at[MAX_INTS];
};

struct reals {
    int n;
    double at[MAX_INTS];
};

enum attr_kind { ATTR_BOOL, ATTR_DTYPE, ATTR_INT, ATTR_INTS, ATTR_REAL, ATTR_REALS, ATTR_WORD };

#define ATTR_C_TYPE_BOOL bool
#define ATTR_C_TYPE_DTYPE enum dtype
#define ATTR_C_TYPE_INT int64_t
#define ATTR_C_TYPE_INTS struct ints
#define ATTR_C_TYPE_REAL double
#define ATTR_C_TYPE_REALS struct reals
#define ATTR_C_TYPE_WORD const char * /* never NULL in a complete node; "" = default */

#define ATTR_DECLARE(owner, kind, field) ATTR_C_TYPE_##kind field;
#define ATTRS(name, FIELDS)                                                                        \
    struct name##_attrs {                                                                          \
        FIELDS(ATTR_DECLARE, name)                                                                 \
    };
#include "relay_ir/attrs.def"
#undef ATTRS

union attrs {
#define ATTRS(name, FIELDS) struct name##_attrs name;
#include "relay_ir/attrs.def"
#undef ATTRS
};

struct attr_field {
    const char *name;
    enum attr_kind kind;
    size_t offset;
};

/* The fields of an attribute struct; n_fields 0 for operators without attributes. */
struct attr_schema {
    const char *name;
    const struct attr_field *fields;
    int n_fields;
};

enum attrs_id {
    ATTRS_none,
#define ATTRS(name, FIELDS) ATTRS_##name,
#include "relay_ir/attrs.def"
#undef ATTRS
    ATTRS_COUNT
};

const struct attr_schema *attrs_schema(enum attrs_id id);

/* Appends " {strides=[2,2], groups=1}"; nothing if there are no fields, or only absent element
 * types. Reals are printed so that they read back exactly. */
void attrs_print(struct str *out, enum attrs_id id, const union attrs *attrs);

/* Parses the output of attrs_print at *text and advances *text past it. Words are copied into the
 * arena. False, with *reason, on malformed text. */
bool attrs_parse(struct arena *arena, enum attrs_id id, const char **text, union attrs *attrs,
                 const char **reason);

struct ints ints_of(int n, const int64_t *at);
struct ints ints_fill(int n, int64_t value);
bool ints_equal(const struct ints *a, const struct ints *b);
bool ints_has(const struct ints *ints, int64_t value);

#endif
