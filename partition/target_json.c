/* target_json.c - target.json becomes a struct target.
 *
 * needs    a text, and the files beside it
 * gives    a target without hooks, or every error of the file with its place
 * method   cJSON reads, json_read.h takes members by key; what is wrong is reported and left out,
 *          so that the rest is looked at as well; target_check.c sees what has become of it */
#include <string.h>

#include "base/str.h"
#include "partition/json_read.h"
#include "partition/target_file.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Nobody writes so many; conditions are compared in pairs. */
enum { MAX_LETS = 64, MAX_CONDITIONS = 64 };

struct loader {
    struct ctx *ctx;
    struct json_file json;
    struct target *target;
    const struct target_folder *folder;
};

static const char *const format_names[] = {
    [FORMAT_C] = "c", [FORMAT_EXTERN] = "extern", [FORMAT_STREAM] = "stream", [FORMAT_JSON] = "json"
};

static const char *safe(struct loader *loader, const char *text)
{
    return str_safe(&loader->ctx->perm, text, 64);
}

/* --- words -------------------------------------------------------------------------------------*/

/* An identifier, or NULL after an error. */
static const char *read_name(struct loader *loader, const cJSON *object, const char *whose)
{
    const char *name = json_text(&loader->json, object, "name");

    if (!json_get(object, "name"))
        json_error(&loader->json, object, "%s has no name", whose);
    if (!name || is_identifier(name))
        return name;
    json_error(&loader->json, json_get(object, "name"), "'%s' is no name for %s",
               safe(loader, name), whose);
    diag_help(loader->ctx, "letters, digits and '_', at most 64, no digit first");
    return NULL;
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

static enum dtype read_dtype(struct loader *loader, const cJSON *item, const char *text)
{
    const enum dtype dtype = text ? dtype_from_name(text) : DTYPE_NONE;
    const char *names[DTYPE_COUNT];
    size_t n = 0;

    if (!text || dtype != DTYPE_NONE)
        return dtype;
    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++)
        names[n++] = dtype_name((enum dtype)i);
    json_error(&loader->json, item, "unknown element type '%s'", safe(loader, text));
    json_help_nearest(loader->ctx, text, names, n);
    return DTYPE_NONE;
}

/* As written in ops.def; "nn." may be left out. OP_COUNT after an error. */
static enum op read_op(struct loader *loader, const cJSON *item)
{
    const char *text = json_text_of(&loader->json, item);
    const char *names[2 * OP_COUNT];
    enum op op = text ? op_from_name(text) : OP_COUNT;
    size_t n = 0;

    if (op == OP_COUNT && text)
        op = op_from_name(arena_printf(&loader->ctx->perm, "nn.%.64s", text));
    if (op != OP_COUNT || !text)
        return op;
    for (int i = 0; i < OP_COUNT; i++) {
        names[n++] = op_name((enum op)i);
        if (str_starts(op_name((enum op)i), "nn."))
            names[n++] = op_name((enum op)i) + 3;
    }
    json_error(&loader->json, item, "unknown operator '%s'", safe(loader, text));
    if (strlen(text) <= 64 && str_nearest(text, names, n))
        diag_help(loader->ctx, "did you mean '%s'?", str_nearest(text, names, n));
    else
        diag_help(loader->ctx, "relay_ir/ops.def and docs/operators.md have all operators");
    return OP_COUNT;
}

/* --- files -------------------------------------------------------------------------------------*/

/* Names that become files elsewhere too, so no folders and nothing that a compiler takes for an
 * option. */
static bool is_file_name(const char *name)
{
    if (*name == '.' || *name == '-' || *name == '\0' || strlen(name) > 128)
        return false;
    for (; *name; name++)
        if (!(*name >= 'a' && *name <= 'z') && !(*name >= 'A' && *name <= 'Z') &&
            !(*name >= '0' && *name <= '9') && !strchr("_.-+", *name))
            return false;
    return true;
}

static const char *read_file(struct loader *loader, const cJSON *item, const char *name)
{
    const char *reason = "no such file";
    const char *text;

    if (!is_file_name(name)) {
        json_error(&loader->json, item, "'%s' is no plain file name", safe(loader, name));
        diag_help(loader->ctx, "letters, digits and any of _ . - +; the file lies in the target's "
                               "folder itself");
        return NULL;
    }
    text = loader->folder->read(loader->folder->user, name, &reason);
    if (text)
        return text;
    json_error(&loader->json, item, "cannot read '%s': %s", safe(loader, name), reason);
    diag_help(loader->ctx, "files are looked for in the folder of %s", loader->json.name);
    return NULL;
}

static const char *read_template(struct loader *loader, const cJSON *object, const char *key)
{
    const char *name = json_text(&loader->json, object, key);

    return name ? read_file(loader, json_get(object, key), name) : NULL;
}

static int read_files(struct loader *loader, const cJSON *list, const char ***names,
                      const char ***texts)
{
    struct map seen = { .arena = &loader->ctx->scratch };
    const size_t most = (size_t)cJSON_GetArraySize(list);
    int n = 0;

    *names = arena_array(&loader->ctx->perm, const char *, most);
    *texts = arena_array(&loader->ctx->perm, const char *, most);
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        const char *name = json_text_of(&loader->json, item);
        const char *text;

        if (!name)
            continue;
        if (map_get(&seen, name)) {
            json_error(&loader->json, item, "'%s' stands here twice", name);
            continue;
        }
        map_set(&seen, name, (void *)(uintptr_t)name);
        text = read_file(loader, item, name);
        if (text) {
            (*names)[n] = name;
            (*texts)[n++] = text;
        }
    }
    return n;
}

/* --- composites --------------------------------------------------------------------------------*/

static struct expression *read_expression(struct loader *loader, const cJSON *item,
                                          struct source *source)
{
    const char *text = json_text_of(&loader->json, item);
    struct expression *expression;

    *source = json_source(&loader->json, item);
    expression = text ? expression_parse(loader->ctx, source, text) : NULL;
    loader->json.failed |= expression == NULL;
    return expression;
}

static struct expression *read_member(struct loader *loader, const cJSON *object, const char *key,
                                      struct source *source)
{
    const cJSON *item = json_get(object, key);

    return item ? read_expression(loader, item, source) : NULL;
}

static void read_conditions(struct loader *loader, const cJSON *list, struct composite_row *row)
{
    row->conditions = arena_array(&loader->ctx->perm, struct condition, cJSON_GetArraySize(list));
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        struct condition *condition = &row->conditions[row->n_conditions];

        condition->test = read_expression(loader, item, &condition->source);
        row->n_conditions += condition->test != NULL;
    }
}

static void read_lets(struct loader *loader, const cJSON *object, struct composite_row *row)
{
    const int n = cJSON_GetArraySize(object);

    if (n > MAX_LETS) {
        json_key_error(&loader->json, object, "%d names are defined here, at most %d are possible",
                       n, MAX_LETS);
        return;
    }
    row->lets = arena_array(&loader->ctx->perm, struct definition, n);
    for (const cJSON *item = object ? object->child : NULL; item; item = item->next) {
        struct definition *let = &row->lets[row->n_lets];

        let->name = arena_strdup(&loader->ctx->perm, item->string);
        let->value = read_expression(loader, item, &let->source);
        if (!is_identifier(let->name))
            json_key_error(&loader->json, item, "'%s' is no name", safe(loader, let->name));
        else if (reserved_name(let->name))
            json_key_error(&loader->json, item, "'%s' is taken: it is %s", let->name,
                           reserved_name(let->name));
        else
            row->n_lets += let->value != NULL;
    }
}

static void read_row_template(struct loader *loader, const cJSON *item, struct composite_row *row)
{
    const cJSON *template = json_get(item, "template");

    if (loader->target->format != FORMAT_C) {
        if (template)
            json_key_error(&loader->json, template, "a target of format %s has no templates",
                           format_names[loader->target->format]);
        return;
    }
    if (!template)
        json_error(&loader->json, item, "a composite of a target of format c needs a template");
    row->template_file = json_text(&loader->json, item, "template");
    row->template_text = read_template(loader, item, "template");
}

static void read_row(struct loader *loader, const cJSON *item, struct composite_row *row)
{
    static const char *const known[] = { "name",    "pattern", "where",   "let",
                                         "cost_ns", "scratch", "template" };
    const cJSON *pattern = json_get(item, "pattern");

    row->target = loader->target;
    row->source = json_source(&loader->json, pattern ? pattern : item);
    if (!json_members(&loader->json, item, known, COUNT(known)))
        return;
    row->name = read_name(loader, item, "a composite");
    if (!pattern)
        json_error(&loader->json, item, "this composite has no pattern");
    row->text = json_text(&loader->json, item, "pattern");
    row->pattern = row->text ? pattern_parse(loader->ctx, &row->source, row->text) : NULL;
    loader->json.failed |= row->pattern == NULL;
    read_conditions(loader, json_list(&loader->json, item, "where"), row);
    read_lets(loader, json_object(&loader->json, item, "let"), row);
    row->cost_ns = read_member(loader, item, "cost_ns", &row->cost_source);
    row->scratch = read_member(loader, item, "scratch", &row->scratch_source);
    read_row_template(loader, item, row);
}

static void read_rows(struct loader *loader, const cJSON *list)
{
    struct target *target = loader->target;
    struct map seen = { .arena = &loader->ctx->scratch };

    target->rows = arena_array(&loader->ctx->perm, struct composite_row, cJSON_GetArraySize(list));
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        struct composite_row *row = &target->rows[target->n_rows++];

        read_row(loader, item, row);
        if (!row->name)
            continue;
        if (map_get(&seen, row->name))
            json_error(&loader->json, json_get(item, "name"),
                       "'%s' is already the name of the composite in line %d", row->name,
                       json_source(&loader->json, map_get(&seen, row->name)).line);
        else
            map_set(&seen, row->name, (void *)(uintptr_t)item);
        row->name = arena_printf(&loader->ctx->perm, "%s.%s", target->name, row->name);
    }
}

/* --- what holds for the whole target -----------------------------------------------------------*/

static void read_limits(struct loader *loader, const cJSON *object)
{
    static const char *const known[] = { "max_nodes",        "max_macs",       "max_weight_bytes",
                                         "max_onchip_bytes", "weights_onchip", "min_macs" };
    struct json_file *json = &loader->json;
    struct target_limits *limits = &loader->target->limits;

    if (!object || !json_members(json, object, known, COUNT(known)))
        return;
    *limits = (struct target_limits){
        json_limit(json, object, "max_nodes"),        json_limit(json, object, "max_macs"),
        json_limit(json, object, "max_weight_bytes"), json_limit(json, object, "max_onchip_bytes"),
        json_bool(json, object, "weights_onchip"),    json_limit(json, object, "min_macs")
    };
    if (limits->max_macs && limits->min_macs > limits->max_macs)
        json_error(json, json_get(object, "min_macs"),
                   "min_macs is %lld, max_macs is %lld: no region has so many and so few",
                   (long long)limits->min_macs, (long long)limits->max_macs);
    if (limits->weights_onchip && !limits->max_onchip_bytes)
        json_error(json, json_get(object, "weights_onchip"),
                   "weights_onchip says nothing without max_onchip_bytes");
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
    rates->launch_ns = json_rate(json, object, "launch_ns");
    rates->transfer_ns_per_byte = json_rate(json, object, "transfer_ns_per_byte");
    rates->call_ns = json_rate(json, object, "call_ns");
    rates->ns_per_byte = json_rate(json, object, "ns_per_byte");
    per_mac = json_object(json, object, "ns_per_mac");
    for (const cJSON *item = per_mac ? per_mac->child : NULL; item; item = item->next) {
        const bool other = strcmp(item->string, "other") == 0;
        const enum dtype dtype = other ? DTYPE_NONE : read_dtype(loader, item, item->string);
        const double ns = json_rate_of(json, item);

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
        const enum op op = read_op(loader, item);

        if (op != OP_COUNT)
            loader->target->keep_on_host[op] = true;
    }
}

static uint64_t read_formats(struct loader *loader, const cJSON *object, const char *key)
{
    const cJSON *list = json_list(&loader->json, object, key);
    uint64_t formats = 0;

    if (!json_get(object, key) || (list && !list->child))
        json_error(&loader->json, list ? list : object, "'%s' is wanted: [\"f8e4m3\"]", key);
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        const enum dtype dtype = read_dtype(loader, item, json_text_of(&loader->json, item));

        if (dtype == DTYPE_NONE)
            continue;
        if (dtype_kind(dtype) == KIND_MINIFLOAT)
            formats |= UINT64_C(1) << dtype;
        else
            json_error(&loader->json, item, "%s is no FP8 format", dtype_name(dtype));
    }
    return formats;
}

/* The type of sums or results; f32 when nothing is said. */
static enum dtype read_float(struct loader *loader, const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);
    const enum dtype dtype =
        item ? read_dtype(loader, item, json_text_of(&loader->json, item)) : DTYPE_F32;

    if (dtype == DTYPE_NONE || dtype_is_float(dtype))
        return dtype;
    json_error(&loader->json, item, "%s is no type for sums: f16, bf16, f32 or f64 is wanted",
               dtype_name(dtype));
    return DTYPE_NONE;
}

static void read_fp8_row(struct loader *loader, const cJSON *item, bool *seen)
{
    static const char *const known[] = { "op",         "data", "weights",
                                         "accumulate", "out",  "weight_scales" };
    struct json_file *json = &loader->json;
    struct fp8_row *row = &loader->target->fp8[loader->target->n_fp8];

    if (!json_members(json, item, known, COUNT(known)))
        return;
    *row = (struct fp8_row){ .op = OP_COUNT,
                             .data = read_formats(loader, item, "data"),
                             .weights = read_formats(loader, item, "weights"),
                             .accumulate = read_float(loader, item, "accumulate"),
                             .out = read_float(loader, item, "out"),
                             .weight_scales = json_bool(json, item, "weight_scales"),
                             .source = json_source(json, item) };
    if (json_get(item, "op"))
        row->op = read_op(loader, json_get(item, "op"));
    else
        json_error(json, item, "'op' is missing");
    if (row->op == OP_COUNT)
        return;
    if (seen[row->op])
        json_error(json, json_get(item, "op"), "there is an earlier row for %s", op_name(row->op));
    seen[row->op] = true;
    loader->target->n_fp8++;
}

static void read_fp8(struct loader *loader, const cJSON *list)
{
    bool seen[OP_COUNT] = { false };

    loader->target->fp8 = arena_array(&loader->ctx->perm, struct fp8_row, cJSON_GetArraySize(list));
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next)
        read_fp8_row(loader, item, seen);
}

/* The words go to a compiler; nothing in them may mean something to a shell. */
static const char *read_flags(struct loader *loader, const cJSON *object)
{
    const char *flags = json_text(&loader->json, object, "flags");

    for (const char *at = flags ? flags : ""; *at; at++)
        if (!(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') &&
            !(*at >= '0' && *at <= '9') && !strchr("_.-+=/,: ", *at)) {
            json_error(&loader->json, json_get(object, "flags"),
                       "letters, digits, blanks and any of _ . - + = / , : are wanted");
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
    target->n_host_files = read_files(loader, json_list(&loader->json, object, "files"),
                                      &target->host_names, &target->host_texts);
    target->host_flags = read_flags(loader, object);
}

static void read_plugin(struct loader *loader, const cJSON *root)
{
    const char *name = json_text(&loader->json, root, "plugin");
    const char *reason = "no such file";

    if (!name)
        return;
    if (!is_file_name(name))
        json_error(&loader->json, json_get(root, "plugin"), "'%s' is no plain file name",
                   safe(loader, name));
    else if (!loader->folder->has(loader->folder->user, name, &reason))
        json_error(&loader->json, json_get(root, "plugin"), "cannot use '%s': %s", name, reason);
    else
        loader->target->plugin = name;
}

static void read_format(struct loader *loader, const cJSON *root)
{
    const char *text = json_text(&loader->json, root, "format");
    size_t i = 0;

    if (!text)
        return;
    while (i < COUNT(format_names) && strcmp(text, format_names[i]) != 0)
        i++;
    if (i < COUNT(format_names)) {
        loader->target->format = (enum target_format)i;
        return;
    }
    json_error(&loader->json, json_get(root, "format"), "unknown format '%s'", safe(loader, text));
    json_help_nearest(loader->ctx, text, format_names, COUNT(format_names));
}

static void read_root(struct loader *loader, const cJSON *root)
{
    static const char *const known[] = { "name",     "description", "format",  "composites",
                                         "limits",   "rates",       "fp8",     "keep_on_host",
                                         "prologue", "region",      "headers", "host",
                                         "plugin" };
    struct json_file *json = &loader->json;
    struct target *target = loader->target;

    if (!json_members(json, root, known, COUNT(known)))
        return;
    target->name = read_name(loader, root, "a target");
    if (target->name && is_taken(target->name))
        json_error(json, json_get(root, "name"),
                   "a target cannot be called '%s': the generated code has that name itself",
                   target->name);
    if (!target->name)
        target->name = "?";
    target->source = json_source(json, json_get(root, "name") ? json_get(root, "name") : root);
    target->description = json_text(json, root, "description");
    if (!target->description)
        target->description = "";
    read_format(loader, root);
    read_rows(loader, json_list(json, root, "composites"));
    read_limits(loader, json_get(root, "limits"));
    read_rates(loader, json_get(root, "rates"));
    read_fp8(loader, json_list(json, root, "fp8"));
    read_keep_on_host(loader, json_list(json, root, "keep_on_host"));
    target->prologue_file = json_text(json, root, "prologue");
    target->prologue = read_template(loader, root, "prologue");
    target->region_file = json_text(json, root, "region");
    target->region_template = read_template(loader, root, "region");
    target->n_headers = read_files(loader, json_list(json, root, "headers"), &target->header_names,
                                   &target->header_texts);
    read_host(loader, json_get(root, "host"));
    read_plugin(loader, root);
    if (strcmp(target->name, "c") == 0 && target->n_rows > 0)
        json_error(json, json_get(root, "composites"),
                   "the target c is the host, which takes every operator and has no composites");
}

struct target *target_read(struct ctx *ctx, const char *file, const char *text,
                           const struct target_folder *folder)
{
    struct loader loader = { .ctx = ctx, .folder = folder };
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
