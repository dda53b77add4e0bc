/* plugin.c - hooks that call a plug-in: a shared object that speaks runtime/abi/relayc_plugin.h.
 *
 * The shared object stays open until the process ends: hooks, and what they gave, point into it. */
#include "partition/plugin.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "partition/plugin_call.h"

/* What is behind target->hooks of a target with a plug-in. */
struct plugin {
    struct target_hooks hooks; /* first, so that the hooks find the rest */
    const struct relayc_plugin *table;
    const char *name; /* for messages, harmless */
};

static const struct plugin *plugin_of(const struct target *target)
{
    return (const struct plugin *)target->hooks;
}

static bool accepts(const struct composite_row *row, const struct match *match, struct arena *arena,
                    const char **found, const char **wanted)
{
    const struct plugin *plugin = plugin_of(row->target);
    struct plugin_call *call = plugin_call_match(arena, row, match);

    if (plugin->table->check(&call->call) && !call->failure)
        return true;
    *found = call->found ? str_safe(arena, call->found, 200) : "it is refused";
    *wanted = call->found ? str_safe(arena, call->wanted, 200)
                          : arena_printf(arena, "what the plug-in '%s' takes", plugin->name);
    if (call->failure)
        *found = arena_printf(arena, "the plug-in '%s' failed: %s", plugin->name,
                              str_safe(arena, call->failure, 200));
    return false;
}

static double cost_ns(const struct composite_row *row, const struct match *match,
                      struct arena *arena)
{
    struct plugin_call *call = plugin_call_match(arena, row, match);
    const double cost = plugin_of(row->target)->table->cost_ns(&call->call);

    return isfinite(cost) && !call->failure ? cost : -1;
}

/* What a call that must succeed has come to. */
static bool judge(const struct plugin *plugin, const struct target *target, bool ok,
                  const struct plugin_call *call, const struct node *node)
{
    struct ctx *ctx = call->lowering->ctx;
    const struct origin *origin = node ? node_origin(node) : NULL;
    const char *what = *call->call.composite ? call->call.composite : "a region";

    if (call->failure)
        return diag_error(ctx, DIAG_PLUGIN, origin, "plug-in '%s' of target %s failed on %s: %s",
                          plugin->name, target->name, what,
                          str_safe(&ctx->perm, call->failure, 500));
    if (ok)
        return true;
    return diag_error(ctx, DIAG_PLUGIN, origin,
                      "plug-in '%s' of target %s refused %s: found %s, wanted %s", plugin->name,
                      target->name, what,
                      call->found ? str_safe(&ctx->perm, call->found, 200) : "no reason",
                      call->found ? str_safe(&ctx->perm, call->wanted, 200) : "one");
}

static bool lower(const struct composite_row *row, const struct match *match,
                  struct lowering *lowering)
{
    const struct plugin *plugin = plugin_of(row->target);
    struct plugin_call *call = plugin_call_match(lowering->arena, row, match);

    call->lowering = lowering;
    return judge(plugin, row->target, plugin->table->lower(&call->call) != 0, call, match->root);
}

static bool assemble(const struct target *target, const struct region_view *region,
                     struct lowering *lowering)
{
    const struct plugin *plugin = plugin_of(target);
    struct plugin_call *call = plugin_call_region(lowering, target, region);

    if (!call ||
        !judge(plugin, target, plugin->table->assemble(&call->call) != 0, call, region->fn->first))
        return false;
    lowering->stream = call->stream ? call->stream : arena_alloc(lowering->arena, 1);
    lowering->stream_bytes = call->n_stream;
    return true;
}

/* The symbol's address as a function: ISO C has no conversion for it, POSIX promises that the bytes
 * are the same. */
typedef const struct relayc_plugin *plugin_get(uint32_t version);

static plugin_get *find_entry(void *handle)
{
    void *const symbol = dlsym(handle, "relayc_plugin_get");
    plugin_get *entry;

    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

static bool no_plugin(struct ctx *ctx, const char *path, const char *target, const char *reason)
{
    return diag_error(ctx, DIAG_PLUGIN, NULL, "the plug-in %s of target %s cannot be used: %s",
                      str_safe(&ctx->perm, path, 4096), target, reason);
}

static void close_library(void *handle, size_t size)
{
    (void)size;
    dlclose(handle);
}

static const struct relayc_plugin *open_plugin(struct ctx *ctx, const char *path,
                                               const char *target)
{
    /* A name without '/' would be looked for in the system's folders. */
    const char *file = strchr(path, '/') ? path : arena_printf(&ctx->perm, "./%s", path);
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL); /* closed with its owner, if there is one */
    plugin_get *entry = handle ? find_entry(handle) : NULL;
    const struct relayc_plugin *table = entry ? entry(RELAYC_PLUGIN_VERSION) : NULL;
    const char *reason;

    if (handle)
        memory_own(handle, close_library, 0);
    if (table && table->version == RELAYC_PLUGIN_VERSION)
        return table;
    if (!handle) {
        reason = dlerror();
        no_plugin(ctx, path, target, str_safe(&ctx->perm, reason ? reason : "no reason", 1000));
    } else if (!entry) {
        no_plugin(ctx, path, target, "it exports no function relayc_plugin_get");
        diag_help(ctx,
                  "docs/guide/plugin.md describes the interface; in C++ it needs extern \"C\"");
    } else {
        no_plugin(
            ctx, path, target,
            table
                ? arena_printf(&ctx->perm, "it implements version %u of the interface, expected %d",
                               (unsigned)table->version, RELAYC_PLUGIN_VERSION)
                : arena_printf(&ctx->perm, "it does not implement version %d of the interface",
                               RELAYC_PLUGIN_VERSION));
        diag_help(ctx, "build it again with the relayc_plugin.h of this relayc");
    }
    return NULL;
}

const struct target_hooks *plugin_load(struct ctx *ctx, const char *path, const char *target)
{
    const struct relayc_plugin *table = open_plugin(ctx, path, target);
    struct plugin *plugin;

    if (!table)
        return NULL;
    plugin = arena_new(&ctx->perm, struct plugin);
    plugin->table = table;
    plugin->name = str_safe(&ctx->perm, table->name ? table->name : path, 80);
    plugin->hooks.target = arena_strdup(&ctx->perm, target);
    plugin->hooks.accepts = table->check ? accepts : NULL;
    plugin->hooks.cost_ns = table->cost_ns ? cost_ns : NULL;
    plugin->hooks.lower = table->lower ? lower : NULL;
    plugin->hooks.assemble = table->assemble ? assemble : NULL;
    return &plugin->hooks;
}
