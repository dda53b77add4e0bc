/* target_json.c - target.json becomes a struct target.
 *
 * needs    a text, and the files beside it
 * gives    a target without hooks, or every error of the file with its place
 * method   cJSON reads, json_read.h takes members by key; what is wrong is reported and left out,
 *          so that the rest is looked at as well; target_check.c sees what has become of it */
#include <string.h>

#include "base/str.h"
#include "partition/target_json.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

const char *const target_format_names[4] = {
    [FORMAT_C] = "c", [FORMAT_EXTERN] = "extern", [FORMAT_STREAM] = "stream", [FORMAT_JSON] = "json"
};

static const char *safe(struct loader *loader, const char *text)
{
    return str_safe(&loader->ctx->perm, text, 64);
}

/* The generated code has names NAME_TARGET and files NAME_TARGET.c of its own. */
static bool is_taken(const char *target)
{
    static const char *const taken[] = { "run", "step", "weights" };

    for (size_t i = 0; i < COUNT(taken); i++)
        if (strcmp(target, taken[i]) == 0)
            return true;
    return str_starts(target, "weights_");
}

static void read_limits(struct loader *loader, const cJSON *object)
{
    static const char *const known[] = { "max_nodes",        "max_macs",       "max_weight_bytes",
                                         "max_onchip_bytes", "weights_onchip", "min_macs" };
    struct json_file *json = &loader->json;
    struct target_limits *limits = &loader->target->limits;

    if (!object || !json_members(json, object, known, COUNT(known)))
        return;
    *limits = (struct target_limits){ json_get_limit(json, object, "max_nodes"),
                                      json_get_limit(json, object, "max_macs"),
                                      json_get_limit(json, object, "max_weight_bytes"),
                                      json_get_limit(json, object, "max_onchip_bytes"),
                                      json_get_bool(json, object, "weights_onchip"),
                                      json_get_limit(json, object, "min_macs") };
    if (limits->max_macs && limits->min_macs > limits->max_macs)
        json_error(json, json_get(object, "min_macs"),
                   "min_macs %lld exceeds max_macs %lld: no region is possible",
                   (long long)limits->min_macs, (long long)limits->max_macs);
    if (limits->weights_onchip && !limits->max_onchip_bytes)
        json_error(json, json_get(object, "weights_onchip"),
                   "weights_onchip has no effect without max_onchip_bytes");
    else if (limits->weights_onchip && limits->max_weight_bytes > limits->max_onchip_bytes)
        json_error(json, json_get(object, "max_weight_bytes"),
                   "max_weight_bytes is %lld, but weights lie on chip, where max_onchip_bytes "
                   "leaves %lld",
                   (long long)limits->max_weight_bytes, (long long)limits->max_onchip_bytes);
}

static void read_rates(struct loader *loader, const cJSON *object)
{
    static const char *const known[] = { "launch_ns", "transfer_ns_per_byte", "call_ns",
                                         "ns_per_byte", "ns_per_mac" };
    struct json_file *json = &loader->json;
    struct target_rates *rates = &loader->target->rates;
    const cJSON *per_mac;

    if (!object || !json_members(json, object, known, COUNT(known)))
        return;
    rates->launch_ns = json_get_rate(json, object, "launch_ns");
    rates->transfer_ns_per_byte = json_get_rate(json, object, "transfer_ns_per_byte");
    rates->call_ns = json_get_rate(json, object, "call_ns");
    rates->ns_per_byte = json_get_rate(json, object, "ns_per_byte");
    per_mac = json_get_object(json, object, "ns_per_mac");
    for (const cJSON *item = per_mac ? per_mac->child : NULL; item; item = item->next) {
        const bool other = strcmp(item->string, "other") == 0;
        const enum dtype dtype = other ? DTYPE_NONE : target_json_dtype(loader, item, item->string);
        const double ns = json_item_rate(json, item);

        if (!other && dtype == DTYPE_NONE)
            continue;
        /* a key that stands there twice has been refused before */
        rates->per_mac[rates->n_macs].dtype = dtype;
        rates->per_mac[rates->n_macs++].ns = ns;
    }
}

static void read_keep_on_host(struct loader *loader, const cJSON *list)
{
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        const enum op op = target_json_op(loader, item);

        if (op != OP_COUNT)
            loader->target->keep_on_host[op] = true;
    }
}

/* The words go to a compiler; nothing in them may mean something to a shell. */
static const char *read_flags(struct loader *loader, const cJSON *object)
{
    const char *flags = json_get_text(&loader->json, object, "flags");

    for (const char *at = flags ? flags : ""; *at; at++)
        if (!(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') &&
            !(*at >= '0' && *at <= '9') && !strchr("_.-+=/,: ", *at)) {
            json_error(&loader->json, json_get(object, "flags"),
                       "expected letters, digits, blanks and _ . - + = / , :");
            break;
        }
    return flags ? flags : "";
}

static void read_host(struct loader *loader, const cJSON *object)
{
    static const char *const known[] = { "files", "flags" };
    struct target *target = loader->target;

    target->host_flags = "";
    if (!object || !json_members(&loader->json, object, known, COUNT(known)))
        return;
    target->n_host_files = target_json_files(loader, json_get_list(&loader->json, object, "files"),
                                             &target->host_names, &target->host_texts);
    target->host_flags = read_flags(loader, object);
}

static void read_plugin(struct loader *loader, const cJSON *root)
{
    const char *name = json_get_text(&loader->json, root, "plugin");
    const char *reason = "no such file";

    if (!name)
        return;
    if (!is_file_name(name))
        json_error(&loader->json, json_get(root, "plugin"), "'%s' is not a plain file name",
                   safe(loader, name));
    else if (!loader->folder->has(loader->folder->user, name, &reason))
        json_error(&loader->json, json_get(root, "plugin"), "cannot use '%s': %s", name, reason);
    else
        loader->target->plugin = name;
}

static void read_format(struct loader *loader, const cJSON *root)
{
    const char *text = json_get_text(&loader->json, root, "format");
    size_t i = 0;

    if (!text)
        return;
    while (i < COUNT(target_format_names) && strcmp(text, target_format_names[i]) != 0)
        i++;
    if (i < COUNT(target_format_names)) {
        loader->target->format = (enum target_format)i;
        return;
    }
    json_error(&loader->json, json_get(root, "format"), "unknown format '%s'", safe(loader, text));
    json_help_nearest(loader->ctx, text, target_format_names, COUNT(target_format_names));
}

static void read_root(struct loader *loader, const cJSON *root)
{
    static const char *const known[] = { "name",   "description", "format",       "composites",
                                         "limits", "rates",       "keep_on_host", "prologue",
                                         "region", "headers",     "host",         "plugin" };
    struct json_file *json = &loader->json;
    struct target *target = loader->target;

    if (!json_members(json, root, known, COUNT(known)))
        return;
    target->name = target_json_name(loader, root, "a target");
    if (target->name && is_taken(target->name))
        json_error(json, json_get(root, "name"),
                   "a target cannot be called '%s': the generated code has that name itself",
                   target->name);
    if (!target->name)
        target->name = "?";
    target->source = json_source(json, json_get(root, "name") ? json_get(root, "name") : root);
    target->description = json_get_text(json, root, "description");
    if (!target->description)
        target->description = "";
    read_format(loader, root);
    target_json_rows(loader, json_get_list(json, root, "composites"));
    read_limits(loader, json_get(root, "limits"));
    read_rates(loader, json_get(root, "rates"));
    read_keep_on_host(loader, json_get_list(json, root, "keep_on_host"));
    target->prologue_file = json_get_text(json, root, "prologue");
    target->prologue = target_json_file_of(loader, root, "prologue");
    target->region_file = json_get_text(json, root, "region");
    target->region_template = target_json_file_of(loader, root, "region");
    target->n_headers = target_json_files(loader, json_get_list(json, root, "headers"),
                                          &target->header_names, &target->header_texts);
    read_host(loader, json_get(root, "host"));
    read_plugin(loader, root);
    if (strcmp(target->name, "c") == 0 && target->n_rows > 0)
        json_error(json, json_get(root, "composites"),
                   "the target c is the host, which takes every operator and has no composites");
}

struct target *target_read(struct ctx *ctx, const char *file, const char *text,
                           const struct target_folder *folder)
{
    struct loader loader = { .ctx = ctx, .folder = folder, .texts = { .arena = &ctx->perm } };
    bool ok;

    if (json_open(ctx, file, text, &loader.json)) {
        loader.target = arena_new(&ctx->perm, struct target);
        loader.target->file = file;
        read_root(&loader, loader.json.root);
        if (!target_check_rows(ctx, loader.target, 0))
            loader.json.failed = true;
    }
    ok = !loader.json.failed;
    json_close(&loader.json);
    return ok ? loader.target : NULL;
}
