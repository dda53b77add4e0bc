/* html.c - the page of relayc report: templates/report/report.html, with its style, its scripts and
 * the analysis as JSON put where @css, @charts, @js and @json stand. */
#include <cjson/cJSON.h>
#include <string.h>

#include "base/embedded.h"
#include "report/analysis.h"

static const char *text_of(const char *path)
{
    return embedded_find(path)->text;
}

/* In a script element the parser looks for "</script" and "<!--": no '<' is left. */
static void write_json(struct ctx *ctx, struct writer *out, const struct analysis *analysis)
{
    cJSON *json = cJSON_CreateObject();
    char *text;

    cJSON_AddStringToObject(json, "schema", "relayc-report-1");
    analysis_add_json(&ctx->perm, analysis, json);
    text = cJSON_PrintUnformatted(json);
    if (!text)
        out_of_memory(0);
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, "<");

        writer_write(out, at, n);
        at += n;
        if (*at == '<') {
            writer_text(out, "\\u003c");
            at++;
        }
    }
    cJSON_free(text);
    cJSON_Delete(json);
}

/* As text between tags. */
static void write_escaped(struct writer *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            writer_text(out, "&lt;");
        else if (*text == '&')
            writer_text(out, "&amp;");
        else
            writer_write(out, text, 1);
}

void analysis_write_html(struct ctx *ctx, struct writer *out, const struct analysis *analysis)
{
    const char *page = text_of("templates/report/report.html"), *mark;

    while ((mark = strchr(page, '@')) != NULL) {
        writer_write(out, page, (size_t)(mark - page));
        page = mark + 1 + strspn(mark + 1, "abcdefghijklmnopqrstuvwxyz");
        if (strncmp(mark, "@css", 4) == 0)
            writer_text(out, text_of("templates/report/report.css"));
        else if (strncmp(mark, "@json", 5) == 0)
            write_json(ctx, out, analysis);
        else if (strncmp(mark, "@charts", 7) == 0)
            writer_text(out, text_of("templates/report/charts.js"));
        else if (strncmp(mark, "@js", 3) == 0)
            writer_text(out, text_of("templates/report/report.js"));
        else if (strncmp(mark, "@title", 6) == 0)
            write_escaped(out, analysis->facts->model_file);
    }
    writer_text(out, page);
}
