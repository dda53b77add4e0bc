/* compile.c - a model to C by the library: compile MODEL FOLDER [NAME=VALUE ...]. The exit code is
 * the status. Strict C99. */
#include <relayc/relayc.h>
#include <stdio.h>
#include <string.h>

static void print_diagnostics(const relayc_context *relayc)
{
    const relayc_diagnostic *d = NULL;

    while ((d = relayc_next_diagnostic(relayc, d)) != NULL)
        fprintf(stderr, "R%04d: %s\n", relayc_diagnostic_code(d), relayc_diagnostic_message(d));
}

int main(int argc, char **argv)
{
    relayc_context *relayc = relayc_new();
    relayc_status status = relayc ? relayc_set(relayc, "output-dir", argv[2]) : RELAYC_NO_MEMORY;
    const char *file;
    int i;

    for (i = 3; i < argc && status == RELAYC_OK; i++) {
        char *value = strchr(argv[i], '=');

        if (value)
            *value++ = '\0';
        status = relayc_set(relayc, argv[i], value);
    }
    if (status == RELAYC_OK)
        status = relayc_compile(relayc, argv[1]);
    if (relayc)
        print_diagnostics(relayc);
    for (i = 0; relayc && (file = relayc_file(relayc, (size_t)i)) != NULL; i++)
        puts(file);
    relayc_free(relayc);
    return (int)status;
}
