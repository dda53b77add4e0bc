#include "cli/open_facts.h"

#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/temporary.h"

/* Both sides of a difference get the same symbols. */
static const char symbols[] = "model";

static bool is_folder(const char *path)
{
    struct stat stat_of;

    return stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode);
}

/* A graph as JSON (compile --emit json) is a model, too. */
static bool is_facts(const char *path)
{
    return str_ends(path, ".json") && !str_ends(path, ".graph.json");
}

static struct facts *compile_facts(struct cli *cli, const char *model, const char **folder)
{
    struct driver_state driver = *cli->driver;
    struct output_set outputs = { .ctx = cli->ctx };
    const char *path;
    bool ok;

    *folder = temporary_work_folder(cli->ctx);
    if (!*folder)
        return NULL;
    driver.args.operands = &model;
    driver.args.n_operands = 1;
    driver.args.options[OPTION_OUTPUT_DIR] = (struct option_values){ 0, NULL };
    driver.args.options[OPTION_NAME] = (struct option_values){ 0, NULL };
    driver_give(&driver, OPTION_OUTPUT_DIR, *folder);
    driver_give(&driver, OPTION_NAME, symbols);
    if (has_option(&driver.args, OPTION_RAM) || has_option(&driver.args, OPTION_FLASH) ||
        has_option(&driver.args, OPTION_BOARD))
        driver_give(&driver, OPTION_FORCE, ""); /* a report says what does not fit */
    driver.outputs = &outputs;
    ok = driver_compile(&driver);
    if (ok)
        ok = output_commit(&outputs);
    else
        output_abort(&outputs);
    module_free(driver.module);
    driver_free(&driver);
    path = arena_printf(&cli->ctx->perm, "%s/%s.json", *folder, symbols);
    return ok ? facts_read(cli->ctx, path) : NULL;
}

bool open_facts(struct cli *cli, const char *operand, struct opened_facts *out)
{
    const char *path = operand;

    *out = (struct opened_facts){ NULL, NULL };
    if (is_folder(operand))
        path = facts_find(cli->ctx, operand);
    else if (!is_facts(operand))
        out->facts = compile_facts(cli, operand, &out->folder);
    if (path && !out->folder && !out->facts)
        out->facts = is_folder(operand) || is_facts(operand) ? facts_read(cli->ctx, path) : NULL;
    if (out->facts)
        out->facts->path = str_safe(&cli->ctx->perm, operand, 400);
    return out->facts != NULL;
}

void close_facts(struct opened_facts *opened)
{
    if (opened->folder)
        temporary_remove(opened->folder);
    opened->folder = NULL;
}
