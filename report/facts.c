#include "report/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/map.h"
#include "base/str.h"
#include "base/temporary.h"
#include "report/read.h"

#define ARRAY(reader, type, list)                                                                  \
    arena_array(&(reader)->ctx->perm, type, (list) ? cJSON_GetArraySize(list) : 0)

static const char *shape_text(struct reader *reader, const cJSON *list, double *elements)
{
    struct str text = { .arena = &reader->ctx->perm };
    const cJSON *dim;

    *elements = 1;
    cJSON_ArrayForEach(dim, list)
    {
        *elements *= dim->valuedouble;
        str_printf(&text, "%s%.0f", text.n ? "x" : "", dim->valuedouble);
    }
    return text.n ? str_text(&text) : "scalar";
}

static struct fact_value read_value(struct reader *reader, const cJSON *json)
{
    const cJSON *wholes = read_list(reader, json, "in"), *whole;
    double elements;
    struct fact_value value = {
        .name = read_text(reader, json, "name"),
        .dtype = read_text(reader, json, "dtype"),
        .shape = shape_text(reader, read_list(reader, json, "shape"), &elements),
    };

    value.elements = elements;
    if (value.dtype)
        value.bytes = elements * (double)dtype_bytes(dtype_from_name(value.dtype));
    value.wholes = ARRAY(reader, const char *, wholes);
    cJSON_ArrayForEach(whole, wholes)
    {
        value.wholes[value.n_wholes] = read_item(reader, whole);
        value.n_wholes += value.wholes[value.n_wholes] != NULL;
    }
    return value;
}

static struct fact_value *read_values(struct reader *reader, const cJSON *list, int *n)
{
    struct fact_value *values = ARRAY(reader, struct fact_value, list);
    const cJSON *json;

    cJSON_ArrayForEach(json, list)
    {
        values[(*n)++] = read_value(reader, json);
    }
    return values;
}

static const char *text_or(const char *text, const char *missing)
{
    return text ? text : missing;
}

static void read_nodes(struct reader *reader, const cJSON *list, struct fact_region *region)
{
    const cJSON *json;

    region->nodes = ARRAY(reader, struct fact_node, list);
    cJSON_ArrayForEach(json, list)
    {
        struct fact_node *node = &region->nodes[region->n_nodes++];

        node->name = text_or(read_text(reader, json, "name"), "");
        node->op_type = text_or(read_text(reader, json, "op_type"), "?");
        node->output = read_text(reader, json, "output");
        node->key = *node->name ? node->name
                                : arena_printf(&reader->ctx->perm, "%s:%s", node->op_type,
                                               text_or(node->output, "?"));
    }
}

static struct fact_region read_region(struct reader *reader, const cJSON *json)
{
    const cJSON *outputs = read_list(reader, json, "outputs");
    double elements;
    struct fact_region region = {
        .function = text_or(read_text(reader, json, "function"), "?"),
        .kernel = read_text(reader, json, "kernel"),
        .signature = read_text(reader, json, "signature"),
        .compiler = read_text(reader, json, "compiler"),
        .data = read_text(reader, json, "data"),
        .weights = read_text(reader, json, "weights"),
        .output = shape_text(reader, outputs ? outputs->child : NULL, &elements),
        .macs = read_number(reader, json, "macs", 0),
        .weight_bytes = read_number(reader, json, "weight_bytes", 0),
        .scratch_bytes = read_number(reader, json, "scratch_bytes", 0),
        .sqnr = (double)NAN,
        .cosine = (double)NAN,
    };

    read_nodes(reader, read_list(reader, json, "nodes"), &region);
    region.inputs = read_values(reader, read_list(reader, json, "inputs"), &region.n_inputs);
    region.results = read_values(reader, read_list(reader, json, "results"), &region.n_results);
    return region;
}

static void read_regions(struct reader *reader, const cJSON *root, struct facts *facts)
{
    const cJSON *list = read_list(reader, root, "regions"), *json;

    facts->regions = ARRAY(reader, struct fact_region, list);
    cJSON_ArrayForEach(json, list)
    {
        facts->regions[facts->n_regions++] = read_region(reader, json);
    }
    find_sources(reader->ctx, facts);
}

static int region_named(const struct facts *facts, const char *function)
{
    for (int i = 0; i < facts->n_regions && function; i++)
        if (strcmp(facts->regions[i].function, function) == 0)
            return i;
    return -1;
}

static void read_weights(struct reader *reader, const cJSON *root, struct facts *facts)
{
    const cJSON *list = read_list(reader, root, "weights"), *json;

    facts->weights = ARRAY(reader, struct fact_weight, list);
    cJSON_ArrayForEach(json, list)
    {
        struct fact_weight *weight = &facts->weights[facts->n_weights++];
        const cJSON *readers = read_list(reader, json, "regions");

        weight->symbol = text_or(read_text(reader, json, "symbol"), "?");
        weight->name = text_or(read_text(reader, json, "name"), weight->symbol);
        weight->dtype = text_or(read_text(reader, json, "dtype"), "?");
        weight->shape = shape_text(reader, read_list(reader, json, "shape"), &weight->elements);
        weight->layout = read_text(reader, json, "layout");
        weight->crc32 = text_or(read_text(reader, json, "crc32"), "?");
        weight->bytes = read_number(reader, json, "bytes", 0);
        weight->least = read_number(reader, json, "least", (double)NAN);
        weight->greatest = read_number(reader, json, "greatest", (double)NAN);
        weight->mean = read_number(reader, json, "mean", (double)NAN);
        weight->deviation = read_number(reader, json, "deviation", (double)NAN);
        weight->region =
            readers && readers->child ? region_named(facts, read_item(reader, readers->child)) : -1;
    }
}

/* "relu1, relu2", or "scratch of region_conv0" */
static const char *block_text(struct reader *reader, const cJSON *json)
{
    const char *scratch = read_text(reader, json, "scratch_of");
    struct str text = { .arena = &reader->ctx->perm };
    const cJSON *value;

    if (scratch)
        return arena_printf(&reader->ctx->perm, "scratch of %s", scratch);
    cJSON_ArrayForEach(value, read_list(reader, json, "values"))
    {
        str_printf(&text, "%s%s", text.n ? ", " : "", text_or(read_item(reader, value), "?"));
    }
    return text.n ? str_text(&text) : "-";
}

/* Where the pool begins in a picture that has all pools one behind the other. */
static double pool_begin(struct reader *reader, const cJSON *arena, const char *name)
{
    const cJSON *pool;
    double begin = 0;

    cJSON_ArrayForEach(pool, read_list(reader, arena, "pools"))
    {
        const char *here = read_text(reader, pool, "name");

        if (here && name && strcmp(here, name) == 0)
            return begin;
        begin += read_number(reader, pool, "bytes", 0);
    }
    return 0;
}

static struct fact_block read_block(struct reader *reader, const cJSON *arena, const cJSON *json,
                                    int n_regions)
{
    const double last = fmax(0, n_regions - 1);
    struct fact_block block = {
        .offset = read_number(reader, json, "offset", 0) +
                  pool_begin(reader, arena, read_text(reader, json, "pool")),
        .bytes = read_number(reader, json, "bytes", 0),
        .what = block_text(reader, json),
        .is_scratch = read_text(reader, json, "scratch_of") != NULL,
    };

    /* inputs in the arena are written before the first region */
    block.written = (int)fmin(fmax(0, read_number(reader, json, "written", 0)), last);
    block.last_read =
        (int)fmax(block.written, fmin(read_number(reader, json, "last_read", 0), last));
    return block;
}

static int by_offset(const void *a, const void *b)
{
    const struct fact_block *const *x = a, *const *y = b;

    return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

/* A result may reach into what it is made from: bytes that two blocks share count once. */
static void find_use(struct ctx *ctx, struct facts *facts)
{
    const struct fact_block **sorted =
        arena_array(&ctx->perm, const struct fact_block *, facts->n_blocks);
    double *end = arena_array(&ctx->perm, double, facts->n_regions);

    for (int i = 0; i < facts->n_blocks; i++)
        sorted[i] = &facts->blocks[i];
    qsort(sorted, (size_t)facts->n_blocks, sizeof *sorted, by_offset);
    for (int i = 0; i < facts->n_blocks; i++)
        for (int r = sorted[i]->written; r <= sorted[i]->last_read && r < facts->n_regions; r++) {
            const double begin = fmax(end[r], sorted[i]->offset);
            const double reached = sorted[i]->offset + sorted[i]->bytes;

            facts->regions[r].arena_bytes += fmax(0, reached - begin);
            end[r] = fmax(end[r], reached);
        }
}

static void read_arena(struct reader *reader, const cJSON *root, struct facts *facts)
{
    const cJSON *arena = read_object(reader, root, "arena"), *json;
    const cJSON *list = read_list(reader, arena, "map");

    facts->arena_bytes = read_number(reader, arena, "bytes", 0);
    facts->arena_lower_bound = read_number(reader, arena, "lower_bound", 0);
    facts->arena_order_bound = read_number(reader, arena, "order_lower_bound", 0);
    facts->arena_without_sharing = read_number(reader, arena, "without_sharing", 0);
    facts->arena_is_optimal = read_bool(reader, arena, "optimal");
    facts->blocks = ARRAY(reader, struct fact_block, list);
    cJSON_ArrayForEach(json, list)
    {
        facts->blocks[facts->n_blocks++] = read_block(reader, arena, json, facts->n_regions);
    }
    find_use(reader->ctx, facts);
}

static void read_measured(struct reader *reader, const cJSON *root, struct facts *facts)
{
    const cJSON *json = read_object(reader, root, "measured");

    facts->measured = (struct fact_measured){
        .compiler = read_text(reader, json, "compiler"),
        .text = read_number(reader, json, "text", 0),
        .rodata = read_number(reader, json, "rodata", 0),
        .data = read_number(reader, json, "data", 0),
        .bss = read_number(reader, json, "bss", 0),
        .stack = read_number(reader, json, "stack", -1),
    };
}

static void read_files(struct reader *reader, const cJSON *root, struct facts *facts)
{
    const cJSON *list = read_list(reader, root, "files"), *json;

    facts->files = ARRAY(reader, struct fact_file, list);
    cJSON_ArrayForEach(json, list)
    {
        facts->files[facts->n_files++] = (struct fact_file){
            .name = text_or(read_text(reader, json, "name"), "?"),
            .crc32 = text_or(read_text(reader, json, "crc32"), "?"),
            .bytes = read_number(reader, json, "bytes", 0),
        };
    }
}

/* A backend's estimate of its regions' time, in the metadata of modules. */
static void read_estimates(struct reader *reader, const cJSON *root, struct facts *facts)
{
    const cJSON *module, *region;

    cJSON_ArrayForEach(module, read_list(reader, root, "modules"))
    {
        cJSON_ArrayForEach(region, read_list(reader, module, "regions"))
        {
            const int at = region_named(facts, read_text(reader, region, "symbol"));

            if (at >= 0)
                facts->regions[at].estimate = read_number(reader, region, "estimated_ns", 0) * 1e-9;
        }
    }
}

static void read_interface(struct reader *reader, const cJSON *root, struct facts *facts)
{
    const cJSON *inputs = read_list(reader, root, "inputs"),
                *outputs = read_list(reader, root, "outputs");
    const bool inside = inputs && cJSON_HasObjectItem(inputs->child, "offset");

    facts->inputs = read_values(reader, inputs, &facts->n_inputs);
    facts->outputs = read_values(reader, outputs, &facts->n_outputs);
    for (int i = 0; i < facts->n_inputs && !inside; i++)
        facts->io_bytes += facts->inputs[i].bytes;
    for (int i = 0; i < facts->n_outputs && !inside; i++)
        facts->io_bytes += facts->outputs[i].bytes;
}

static void read_all(struct reader *reader, const cJSON *root, struct facts *facts)
{
    const cJSON *model = read_object(reader, root, "model");

    facts->name = text_or(read_text(reader, root, "name"), "model");
    facts->relayc = read_text(reader, root, "relayc");
    facts->options = text_or(read_text(reader, root, "options"), "");
    facts->target = text_or(read_text(reader, root, "target"), "?");
    facts->model_file = text_or(read_text(reader, model, "file"), "?");
    facts->model_sha256 = text_or(read_text(reader, model, "sha256"), "");
    facts->onnx_nodes = read_number(reader, model, "onnx_nodes", 0);
    facts->macs = read_number(reader, root, "macs", 0);
    facts->weight_bytes = read_number(reader, root, "weight_bytes", 0);
    read_interface(reader, root, facts);
    read_regions(reader, root, facts);
    read_weights(reader, root, facts);
    read_arena(reader, root, facts);
    read_measured(reader, root, facts);
    read_files(reader, root, facts);
    read_estimates(reader, root, facts);
}

static bool is_model(const cJSON *root)
{
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(root, "schema");

    return cJSON_IsString(schema) && strcmp(schema->valuestring, "relayc-model") == 0;
}

bool facts_are_in(const char *text)
{
    cJSON *root = cJSON_Parse(text);
    const bool found = is_model(root);

    cJSON_Delete(root);
    return found;
}

/* Takes the document. */
static struct facts *facts_of(struct reader *reader, cJSON *root)
{
    struct facts *facts = arena_new(&reader->ctx->perm, struct facts);

    facts->path = reader->path;
    facts->folder = folder_of(&reader->ctx->perm, reader->path);
    if (root && !is_model(root))
        read_error(reader, "the JSON has no \"schema\": \"relayc-model\", so relayc compile did "
                           "not write it");
    else if (root && read_number(reader, root, "version", 1) != 1)
        read_error(reader, "its \"version\" is %.0f; this relayc reads 1",
                   read_number(reader, root, "version", 1));
    else if (root)
        read_all(reader, root, facts);
    cJSON_Delete(root);
    return reader->failed ? NULL : facts;
}

struct facts *facts_read(struct ctx *ctx, const char *path)
{
    struct reader reader = { ctx, path, false };

    return facts_of(&reader, read_json(&reader));
}

struct facts *facts_parse(struct ctx *ctx, const char *path, const char *text)
{
    struct reader reader = { ctx, path, false };

    return facts_of(&reader, read_json_text(&reader, text));
}
