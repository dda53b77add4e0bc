#include "codegen_c/text/template_loop.h"

#include <string.h>

#include "codegen_c/text/template.h"

bool template_is_parallel(const char *text)
{
    return strstr(text, "//#parallel ") != NULL;
}

bool loop_add(struct str *out, const char *line, const struct loop *loop, bool split)
{
    const int indent = (int)strspn(line, " ");
    const char *begin = arena_printf(out->arena, "for (int %s = 0", loop->var);
    const char *end = arena_printf(out->arena, "; %s < %s; ", loop->var, loop->limit);
    const char *more = line + indent + strlen(begin), *rest;

    if (!str_starts(line + indent, begin) || (*more != ',' && *more != ';'))
        return false;
    rest = strstr(more, end);
    if (!rest)
        return false;
    if (!split) {
        str_add(out, line);
        return true;
    }
    str_printf(out, "%*sfor (int %s = part_begin(this_part, %s, %s),\n%*s", indent, "", loop->var,
               loop->limit, loop->grain, indent + (int)strlen("for (int "), "");
    str_printf(out, "this_end = part_begin(this_part + 1, %s, %s)%.*s; ", loop->limit, loop->grain,
               (int)(rest - more), more);
    /* The second condition is for compilers: without it gcc 12 takes arrays for uninitialised. */
    str_printf(out, "%s < this_end && %s < %s; %s", loop->var, loop->var, loop->limit,
               rest + strlen(end));
    return true;
}
