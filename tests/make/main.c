/* main.c - writes the test models: make DIR fills DIR/cases, DIR/versions and
 * DIR/networks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/make/make.h"
#include "tests/support/onnx_blocks.h"

enum { OPSET = 17 };

static void write_all(const struct recipe *recipes, int n, const char *dir, const char *tail)
{
    for (int i = 0; i < n; i++) {
        struct onnx_builder *b = builder_new(OPSET);
        const char *path = arena_printf(&b->arena, "%s/%s", dir, recipes[i].name);

        if (*tail == '/')
            mkdir(path, 0777);
        recipes[i].make(b);
        builder_write(b, arena_printf(&b->arena, "%s%s", path, tail));
        builder_free(b);
    }
}

/* 25.6 million parameters: for the limits on time and memory. */
static void write_resnet50(const char *path)
{
    struct onnx_builder *b = builder_resnet50(224, 1000, 1);

    builder_write(b, path);
    builder_free(b);
}

int main(int argc, char **argv)
{
    struct arena arena = { NULL };
    const char *dir = argc == 2 ? argv[1] : NULL;

    if (argc == 3 && strcmp(argv[1], "--resnet50") == 0) {
        write_resnet50(argv[2]);
        return 0;
    }
    if (!dir) {
        fputs("usage: make DIR | make --resnet50 FILE\n", stderr);
        return 2;
    }
    mkdir(dir, 0777);
    mkdir(arena_printf(&arena, "%s/cases", dir), 0777);
    mkdir(arena_printf(&arena, "%s/networks", dir), 0777);
    write_all(good_cases, n_good_cases, arena_printf(&arena, "%s/cases", dir), ".onnx");
    write_all(bad_cases, n_bad_cases, arena_printf(&arena, "%s/cases", dir), ".onnx");
    mkdir(arena_printf(&arena, "%s/versions", dir), 0777);
    write_all(versions, n_versions, arena_printf(&arena, "%s/versions", dir), "/net.onnx");
    write_all(networks, n_networks, arena_printf(&arena, "%s/networks", dir), "/model.onnx");
    arena_release(&arena);
    return 0;
}
