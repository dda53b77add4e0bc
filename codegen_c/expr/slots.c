#include "codegen_c/expr/slots.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/expr/formula.h"
#include "relay_ir/variants.h"

#define SLOT_END "\7"
enum { COLUMNS = 100 };

const char *slot_text(struct codegen *codegen, enum slot slot, int64_t number)
{
    return codegen->module->variants
               ? arena_printf(&codegen->arena, "%c%" PRId64 SLOT_END, (char)slot, number)
               : arena_printf(&codegen->arena, "%" PRId64, number);
}

const char *slot_shape_comment(struct codegen *codegen, const struct type *type)
{
    const char *plain = shape_comment(&codegen->arena, type), *dims = strchr(plain, '[');
    struct str out = { .arena = &codegen->arena };

    if (!codegen->module->variants || !dims)
        return plain;
    str_addn(&out, plain, (size_t)(dims - plain));
    for (int i = 0; i < type->rank; i++)
        str_printf(&out, "%s%s", i ? "," : "[", slot_text(codegen, SLOT_COMMENT, type->dim[i]));
    str_add(&out, type->rank ? "]" : "[]");
    return str_text(&out);
}

static bool is_slot(char c)
{
    return c >= SLOT_OPERAND && c <= SLOT_COMMENT;
}

struct slots slots_of(struct arena *arena, const char *text)
{
    struct str skeleton = { .arena = arena };
    struct slots slots = { .n = 0 };
    int n = 0;

    for (const char *at = text; *at; at++)
        n += is_slot(*at);
    slots.numbers = arena_array(arena, int64_t, n);
    while (*text) {
        const size_t plain = strcspn(text, "\1\2\3");
        char *end;

        str_addn(&skeleton, text, plain + (text[plain] != '\0'));
        text += plain;
        if (!*text)
            break;
        slots.numbers[slots.n++] = strtoll(text + 1, &end, 10);
        text = end + 1;
    }
    slots.skeleton = str_text(&skeleton);
    return slots;
}

int variant_row(const struct codegen *codegen, int variant)
{
    return codegen->module->variants->at[variant].row;
}

/* What is being resolved. */
struct resolving {
    struct codegen *codegen;
    int n;
    const int *of;
    const struct slots *slots;
    struct str *tables;
    struct map made; /* the numbers of a table -> its name */
};

static bool is_constant(const struct resolving *r, int slot)
{
    bool same = true;

    for (int i = 1; i < r->n; i++)
        same = same && r->slots[i].numbers[slot] == r->slots[0].numbers[slot];
    return same;
}

/* ".out_w = " -> "out_w_by_row" */
static const char *table_name(struct resolving *r, const struct str *before)
{
    const char *text = str_text(before), *end = text + strlen(text), *start;

    while (end > text && !isalnum((unsigned char)end[-1]))
        end--;
    for (start = end; start > text && (isalnum((unsigned char)start[-1]) || start[-1] == '_');)
        start--;
    return names_unique(&r->codegen->names,
                        arena_printf(&r->codegen->arena, "%.*s_by_row",
                                     isalpha((unsigned char)*start) ? (int)(end - start) : 6,
                                     isalpha((unsigned char)*start) ? start : "number"));
}

static const char *table_type(int64_t least, int64_t most)
{
    if (least >= 0)
        return most <= UINT8_MAX ? "uint8_t" : most <= UINT16_MAX ? "uint16_t" : "int32_t";
    return least >= INT16_MIN && most <= INT16_MAX ? "int16_t" : "int32_t";
}

/* Its name. Rows of other variants hold 0. */
static const char *add_table(struct resolving *r, int slot, const struct str *before)
{
    struct arena *arena = &r->codegen->arena;
    const int n = r->codegen->module->variants->n;
    int64_t *rows = arena_array(arena, int64_t, n), least = 0, most = 0;
    struct str text = { .arena = arena };
    size_t column = COLUMNS;
    const char *name;

    for (int i = 0; i < r->n; i++)
        rows[variant_row(r->codegen, r->of[i])] = r->slots[i].numbers[slot];
    for (int i = 0; i < n; i++) {
        const char *number = arena_printf(arena, "%" PRId64 ",", rows[i]);

        least = rows[i] < least ? rows[i] : least;
        most = rows[i] > most ? rows[i] : most;
        column += strlen(number) + 1;
        str_printf(&text, "%s%s", column > COLUMNS - 2 ? "\n        " : " ", number);
        column = column > COLUMNS - 2 ? 8 + strlen(number) : column;
    }
    name = map_get(&r->made, str_text(&text));
    if (name)
        return name;
    name = table_name(r, before);
    map_set(&r->made, str_text(&text), (void *)name);
    str_printf(r->tables, "    static const %s %s[%d] = {%s\n    };\n\n", table_type(least, most),
               name, n, str_text(&text));
    return name;
}

static void add_number(struct resolving *r, enum slot kind, int slot, struct str *out)
{
    const struct variants *variants = r->codegen->module->variants;
    int64_t *numbers = arena_array(&r->codegen->arena, int64_t, r->n);
    struct formula formula;

    for (int i = 0; i < r->n; i++)
        numbers[i] = r->slots[i].numbers[slot];
    if (is_constant(r, slot)) {
        str_printf(out, "%" PRId64, numbers[0]);
    } else if (formula_find(variants, r->n, r->of, numbers, &formula)) {
        const bool grouped = kind == SLOT_OPERAND && !formula_is_product(&formula);

        str_printf(out, "%s%s%s", grouped ? "(" : "",
                   formula_text(&r->codegen->arena, variants, &formula), grouped ? ")" : "");
    } else if (kind == SLOT_COMMENT || !r->tables) {
        str_add(out, "..");
    } else {
        const char *name = add_table(r, slot, out);

        str_printf(out, "%s[row]", name);
    }
}

/* Whether slots from `slot` on, of the text up to the next ";", are constants. */
static bool are_constant(const struct resolving *r, const char *text, int slot)
{
    bool all = true;

    for (; *text && *text != ';'; text++)
        if (is_slot(*text))
            all = is_constant(r, slot++) && all;
    return all;
}

const char *slots_resolve(struct codegen *codegen, const char *text, int n, const int *of,
                          const struct slots *slots, struct str *tables)
{
    struct resolving r = { codegen, n, of, slots, tables, { .arena = &codegen->arena } };
    struct str out = { .arena = &codegen->arena };
    int slot = 0;

    while (*text) {
        const size_t plain = strcspn(text, "\1\2\3" SLOT_STATIC);

        str_addn(&out, text, plain);
        text += plain;
        if (is_slot(*text)) {
            add_number(&r, (enum slot) * text, slot++, &out);
            text = strchr(text, *SLOT_END) + 1;
        } else if (*text) {
            text++;
            if (are_constant(&r, text, slot))
                str_add(&out, "static ");
        }
    }
    return str_text(&out);
}
