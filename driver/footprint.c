#include "driver/footprint.h"

#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "driver/host_code.h"
#include "measure/object_size.h"
#include "measure/stack_usage.h"
#include "runtime/engine/host_compile.h"

struct footprint {
    struct driver_state *driver;
    struct host_code code;
    const char *compiler, *flags;
    struct object_size size;
    int n_graphs;
    const char **graphs; /* call graphs, one for each file; fewer if the compiler writes none */
};

/* DIR/NAME.c -> DIR/NAME.SUFFIX, remembered. */
static const char *beside(struct footprint *f, const char *source, const char *suffix)
{
    const char *name = strrchr(source, '/') + 1;

    return host_code_path(
        f->driver, &f->code,
        arena_printf(&f->driver->ctx->perm, "%.*s%s", (int)strlen(name) - 2, name, suffix));
}

static bool compile(struct footprint *f, const char *source, const char *object, const char *mode)
{
    const struct host_compile job = { .compiler = f->compiler,
                                      .mode = mode,
                                      .flags = f->flags,
                                      .include_dir = f->code.dir,
                                      .files = &source,
                                      .n_files = 1,
                                      .output = object };

    return host_compile(f->driver->ctx, &job);
}

/* With the call graph, or, where the compiler does not know that option, without. */
static bool compile_object(struct footprint *f, const char *source)
{
    struct ctx *ctx = f->driver->ctx;
    const char *object = beside(f, source, ".o"), *graph = beside(f, source, ".ci");
    struct diags saved;

    beside(f, source, ".su");
    beside(f, source, ".o.log");
    saved = diag_save(ctx);
    if (compile(f, source, object, "-std=c99 -c -fstack-usage -fcallgraph-info=su")) {
        diag_restore(ctx, saved);
        f->graphs[f->n_graphs++] = graph;
        return object_size_add(ctx, object, &f->size);
    }
    diag_restore(ctx, saved);
    return compile(f, source, object, "-std=c99 -c") && object_size_add(ctx, object, &f->size);
}

static int count_sources(const struct host_code *code)
{
    int n = 0;

    for (int i = 0; i < code->n_files; i++)
        n += str_ends(code->files[i], ".c");
    return n;
}

/* Below the stack pointer, where functions that call nobody may keep things (System V ABI, AMD64
 * supplement, 3.2.2); frames do not count it. */
enum { RED_ZONE = 128 };

/* What frames leave out. Arguments that are pushed for calls are in them (stack_usage.h). */
static void add_machine_stack(const struct footprint *f, struct codegen_measured *measured)
{
    if (f->size.machine == OBJECT_X86_64)
        measured->stack += RED_ZONE;
}

/* Bytes that a frame loses where a function keeps whole vectors on the stack and aligns it to them:
 * gcc states the frame behind that. The ABI aligns to 16. */
static size_t frame_realignment(struct footprint *f)
{
    struct ctx *ctx = f->driver->ctx;
    const struct diags saved = diag_save(ctx);
    struct mapping macros;
    size_t bytes = 0;

    for (int i = 0; i < f->code.n_files && f->size.machine == OBJECT_X86_64; i++) {
        const char *source = f->code.files[i], *path, *text;

        if (!str_ends(source, ".c"))
            continue;
        path = beside(f, source, ".macros");
        beside(f, source, ".macros.log");
        if (compile(f, source, path, "-std=c99 -E -dM") && file_map(ctx, path, &macros)) {
            text = arena_strndup(&ctx->perm, (const char *)macros.data, macros.size);
            bytes = strstr(text, "__AVX512F__") ? 64 - 16 : strstr(text, "__AVX__") ? 32 - 16 : 0;
            file_unmap(&macros);
        }
        break;
    }
    diag_restore(ctx, saved);
    return bytes;
}

static void find_stack(struct footprint *f, const char *entry, struct codegen_measured *measured)
{
    struct ctx *ctx = f->driver->ctx;
    struct stack_usage stack = { 0 };
    struct diags saved;
    const char *why = "the compiler writes no call graph; gcc 10 and later do";

    if (f->n_graphs == count_sources(&f->code)) {
        saved = diag_save(ctx);
        measured->has_stack =
            stack_usage_read(ctx, f->graphs, f->n_graphs, entry, frame_realignment(f), &stack);
        if (!measured->has_stack)
            why = ctx->diags.latest->message;
        diag_restore(ctx, saved);
    }
    if (measured->has_stack) {
        measured->stack = stack.bytes;
        measured->beyond = stack.beyond;
        add_machine_stack(f, measured);
        return;
    }
    diag_warn(ctx, DIAG_NO_STACK, NULL, "'%s' gives no stack size of %s",
              str_safe(&ctx->perm, f->compiler, 80), entry);
    diag_note(ctx, "%s", why);
}

static bool build_objects(struct footprint *f, struct module *module,
                          const struct codegen_options *options)
{
    struct codegen_options own = *options;

    own.ram_bytes = own.flash_bytes = 0; /* its sizes are what we are about to learn */
    if (!host_code_write_as(f->driver, module, &own, &f->code))
        return false;
    f->graphs = arena_array(&f->driver->ctx->perm, const char *, f->code.n_files);
    for (int i = 0; i < f->code.n_files; i++)
        if (str_ends(f->code.files[i], ".c") && !compile_object(f, f->code.files[i]))
            return false;
    return true;
}

const struct codegen_measured *measure_footprint(struct driver_state *driver, struct module *module,
                                                 const struct codegen_options *options)
{
    struct arena *arena = &driver->ctx->perm;
    struct codegen_measured *measured = arena_new(arena, struct codegen_measured);
    const char *usual =
        *driver->machine->flags ? arena_printf(arena, "-O2 %s", driver->machine->flags) : "-O2";
    struct footprint f = { .driver = driver,
                           .compiler = option_text(&driver->args, OPTION_CC, "cc"),
                           .flags = option_text(&driver->args, OPTION_CFLAGS, usual) };
    const bool ok = build_objects(&f, module, options);

    if (ok) {
        *measured = (struct codegen_measured){
            .compiler = arena_printf(arena, "%s%s%s", f.compiler, *f.flags ? " " : "", f.flags),
            .text = f.size.text,
            .rodata = f.size.rodata,
            .data = f.size.data,
            .bss = f.size.bss,
            .other_flash =
                (size_t)(f.size.text + f.size.rodata + f.size.data) - f.code.result.weight_bytes,
            .beyond = ""
        };
        find_stack(&f, arena_printf(arena, "%s_run", options->name), measured);
    } else if (f.code.n_files) {
        host_code_explain(driver, module, &f.code);
    }
    host_code_free(&f.code);
    return ok ? measured : NULL;
}
