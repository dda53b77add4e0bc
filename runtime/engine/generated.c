#include "runtime/engine/generated.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "runtime/engine/crash.h"
#include "runtime/engine/host_compile.h"

/* NAME_REGION_FAILED of NAME.h, to which the region's index is added; NAME_WRONG_NUMBER. */
enum { ARENA_ALIGN = 64, REGION_FAILED = 100, WRONG_NUMBER = -1 };

typedef int call_function(int region, const void *const *in, void *const *out, void *arena);

struct generated {
    struct ctx *ctx;
    const struct function *fn;
    void *library; /* NULL = another one's */
    call_function *call;
    size_t arena_bytes;
    void *arena;
    const void **in; /* of the run under way */
    void **out;
    const struct generated_region *regions;
    int n_regions;
};

/* The adapter, the .c files among the options' and -lm, as a shared object. */
static bool compile(struct ctx *ctx, const struct generated_options *options, const char *adapter,
                    const char *library)
{
    const char **files = arena_array(&ctx->perm, const char *, options->n_files + 1);
    struct host_compile job = { .compiler = options->compiler,
                                .mode = "-std=c99 -shared -fPIC",
                                .flags = options->flags ? options->flags : "-O2",
                                .libs = options->libs,
                                .include_dir = options->dir,
                                .files = files,
                                .n_files = 1,
                                .output = library,
                                .warn = options->warn };

    files[0] = adapter;
    for (int i = 0; i < options->n_files; i++)
        if (str_ends(options->files[i], ".c"))
            files[job.n_files++] = options->files[i];
    return host_compile(ctx, &job);
}

/* What a caller has for itself. */
static void make_room(struct generated *g)
{
    g->arena =
        aligned_alloc(ARENA_ALIGN, (g->arena_bytes + ARENA_ALIGN) / ARENA_ALIGN * ARENA_ALIGN);
    if (!g->arena)
        out_of_memory(g->arena_bytes);
    g->in = arena_array(&g->ctx->perm, const void *, g->fn->n_params + 1); /* and sizes */
    g->out = arena_array(&g->ctx->perm, void *, g->fn->ret->n_inputs);
}

struct generated *generated_build(struct ctx *ctx, const struct function *fn,
                                  const struct generated_options *options)
{
    const char *adapter = arena_printf(&ctx->perm, "%s/%s_adapter.c", options->dir, options->name);
    const char *library = arena_printf(&ctx->perm, "%s/%s.so", options->dir, options->name);
    size_t (*arena_bytes)(void);
    struct crash_guard guard;
    struct generated *g;

    if (!adapter_write(ctx, fn, options->name, options->step, &options->memory, adapter) ||
        !compile(ctx, options, adapter, library))
        return NULL;
    g = arena_new(&ctx->perm, struct generated);
    g->ctx = ctx;
    g->fn = fn;
    g->regions = options->regions;
    g->n_regions = options->regions ? options->n_regions : 0;
    crash_guard_begin(&guard, "while it was loaded");
    g->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    crash_guard_end(&guard);
    if (!g->library) {
        diag_error(ctx, DIAG_TOOLCHAIN, NULL, "cannot load the generated code: %s", dlerror());
        return NULL;
    }
    /* The cast that POSIX prescribes for functions. */
    *(void **)&g->call = dlsym(g->library, "relayc_call");
    *(void **)&arena_bytes = dlsym(g->library, "relayc_arena_bytes");
    g->arena_bytes = arena_bytes();
    make_room(g);
    return g;
}

struct generated *generated_again(struct ctx *ctx, const struct generated *of)
{
    struct generated *g = arena_new(&ctx->perm, struct generated);

    *g = *of;
    g->ctx = ctx;
    g->library = NULL;
    make_room(g);
    return g;
}

void generated_take_sizes(struct generated *g, const struct function *fn, const int32_t *sizes)
{
    g->fn = fn;
    g->in[fn->n_params] = sizes;
}

bool generated_begin(struct generated *g, const struct tensor *inputs, struct tensor *outputs,
                     struct bulk *bulk)
{
    for (int i = 0; i < g->fn->n_params; i++)
        g->in[i] = inputs[i].data;
    for (int i = 0; i < g->fn->ret->n_inputs; i++) {
        outputs[i] = tensor_new(bulk, &g->fn->ret->inputs[i]->type);
        memset(outputs[i].data, 0xFF, type_bytes(&outputs[i].type));
        g->out[i] = outputs[i].data;
    }
    memset(g->arena, 0xFF, g->arena_bytes);
    return true;
}

/* "region 14 (npu_conv1, npu: npu.conv2d_act)" */
static const char *region_text(const struct generated *g, int region)
{
    return region < g->n_regions
               ? arena_printf(&g->ctx->perm, "region %d (%s)", region, g->regions[region].name)
               : arena_printf(&g->ctx->perm, "region %d", region);
}

bool generated_step(struct generated *g, int region)
{
    struct crash_guard guard;
    int code;

    crash_guard_begin(&guard, region < 0
                                  ? "in one of its regions"
                                  : arena_printf(&g->ctx->perm, "in %s", region_text(g, region)));
    code = g->call(region, g->in, g->out, g->arena);
    crash_guard_end(&guard);
    if (code >= REGION_FAILED) {
        region = code - REGION_FAILED;
        return diag_error(g->ctx, DIAG_REGION_FAILED,
                          region < g->n_regions ? g->regions[region].origin : NULL,
                          "%s failed: its function did not return 0", region_text(g, region));
    }
    if (code == WRONG_NUMBER)
        return diag_error(g->ctx, DIAG_SHAPE, NULL,
                          "a number of an input asks for another shape than the file declares, for "
                          "which the network was compiled");
    return code == 0 || diag_error(g->ctx, DIAG_INTERNAL, NULL,
                                   "the generated code returned %d (region %d)", code, region);
}

bool generated_run(struct generated *g, const struct tensor *inputs, struct tensor *outputs,
                   struct bulk *bulk)
{
    return generated_begin(g, inputs, outputs, bulk) && generated_step(g, -1);
}

const void *generated_arena(const struct generated *g)
{
    return g->arena;
}

void generated_free(struct generated *g)
{
    if (!g)
        return;
    if (g->library)
        dlclose(g->library);
    free(g->arena);
}
