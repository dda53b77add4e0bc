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

/* Of real sizes with random weights: for limits on time and memory, and for bench. */
static const struct {
    const char *option;
    struct onnx_builder *(*make)(int size, int classes, uint64_t seed);
    int size;
} big[] = { { "--dense", builder_dense, 2048 },
            { "--resnet18", builder_resnet18, 224 },
            { "--resnet50", builder_resnet50, 224 } };

static bool write_big(const char *option, const char *path)
{
    for (size_t i = 0; i < sizeof big / sizeof *big; i++)
        if (strcmp(big[i].option, option) == 0) {
            struct onnx_builder *b = big[i].make(big[i].size, 1000, 1);

            builder_write(b, path);
            builder_free(b);
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    struct arena arena = { NULL };
    const char *dir = argc == 2 && argv[1][0] != '-' ? argv[1] : NULL;

    if (argc == 3 && write_big(argv[1], argv[2]))
        return 0;
    if (!dir) {
        fputs("usage: make DIR | make --dense|--resnet18|--resnet50 FILE\n", stderr);
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
