#include "codegen_c/emit/identity.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "codegen_c/byoc/external.h"
#include "codegen_c/core/state.h"

static uint32_t sum_text(uint32_t sum, const char *text)
{
    return text ? (uint32_t)crc32_z(sum, (const unsigned char *)text, strlen(text) + 1) : sum;
}

void find_identity(struct codegen *codegen, const char *const code[], int n_code)
{
    uint32_t sum = 0;

    for (int i = 0; i < n_code; i++)
        sum = sum_text(sum, code[i]);
    for (int i = 0; i < codegen->n_modules; i++)
        sum = sum_text(sum, codegen->modules[i].prologue);
    for (int i = 0; i < codegen->n_regions; i++)
        if (codegen->regions[i].external)
            sum = sum_text(sum, codegen->regions[i].external->text);
    codegen->code_id =
        sum_text(sum, arena_printf(&codegen->arena, "%zu", codegen->plan.arena_bytes));
    sum = 0;
    for (const struct weight *w = codegen->weights.first; w; w = w->next)
        sum = sum_text(sum, arena_printf(&codegen->arena, "%s %s %zu %08" PRIx32, w->c_name,
                                         w->layout, type_bytes(&w->stored), w->crc32));
    codegen->data_id = sum;
}

enum { MAX_FILES = 44 }; /* letters that fit a line of 100 */

static void add_check(struct codegen *codegen, struct str *out, const char *suffix,
                      const char *what, uint32_t id)
{
    const char *name = codegen->options->name;
    const char *files = arena_printf(&codegen->arena, "%s.h and %s%s", name, name, suffix);

    if (strlen(files) > MAX_FILES)
        files = "this file and its header";
    str_printf(out,
               "#if %s_%s_ID != 0x%08" PRIx32 "u\n"
               "#error \"%s are of two compilations: take all files of one\"\n#endif\n\n",
               codegen->upper, what, id, files);
}

void add_code_check(struct codegen *codegen, struct str *out, const char *suffix)
{
    add_check(codegen, out, suffix, "CODE", codegen->code_id);
}

void add_data_check(struct codegen *codegen, struct str *out, const char *suffix)
{
    add_check(codegen, out, suffix, "DATA", codegen->data_id);
}
