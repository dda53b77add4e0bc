/* microkernel.c - see microkernel.h. */
#include "codegen_c/microkernel/microkernel.h"

#include <string.h>

#include "codegen_c/core/state.h"
#include "codegen_c/text/macros.h"
#include "codegen_c/text/register_loops.h"

void axis_set(struct microkernel *kernel, const char *head, const char *text)
{
    str_printf(&kernel->axes, "#define %s ", head);
    for (; *text; text++)
        str_addn(&kernel->axes, *text == '\n' ? " " : text, 1);
    str_add(&kernel->axes, "\n");
}

void axis_setf(struct microkernel *kernel, const char *head, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    axis_set(kernel, head, arena_vprintf(kernel->axes.arena, format, args));
    va_end(args);
}

const char *microkernel_lists(struct arena *arena, const struct microkernel *kernel)
{
    struct str out = { .arena = arena };

    str_printf(&out, "#define %s(DO)", kernel->each_pixel);
    for (int j = 0; j < kernel->mr; j++)
        str_printf(&out, " DO(%d)", j);
    str_printf(&out, "\n#define %s(DO, j)", kernel->each_vector);
    for (int v = 0; v < kernel->nr; v++)
        str_printf(&out, " DO(j, %d)", v);
    str_add(&out, "\n");
    return str_text(&out);
}

const char *microkernel_text(struct arena *arena, const struct microkernel *kernel,
                             const char *text)
{
    static const char include[] = "#include \"microkernel.h\"\n";

    if (str_starts(text, include))
        text += strlen(include);
    text = macros_fill(arena, str_text(&kernel->axes), text);
    text = register_loops_to_lists(arena, text, kernel->each_pixel, kernel->each_vector);
    text = macros_fill(arena, arena_printf(arena, "#define MR %s\n", kernel->pixels), text);
    if (kernel->mr) {
        text = arena_printf(arena, "%s%s", microkernel_lists(arena, kernel), text);
        macros_write_out(arena, &text, 1);
    }
    return text;
}

const char *bind_microkernel(struct bind *bind, const char *name, const char *file,
                             const struct microkernel *kernel, struct keys *keys)
{
    const char *path = arena_printf(bind->arena, "templates/helpers/microkernel/%s.c", file);
    const char *fn = bind_new_helper(bind, name, path, keys);
    struct helper *helper = map_get(&bind->codegen->helpers, name);

    helper->microkernel = arena_new(&bind->codegen->arena, struct microkernel);
    *helper->microkernel = *kernel;
    axis_set(helper->microkernel, "FN", fn);
    return fn;
}
