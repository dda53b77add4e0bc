/* minimalloc STEPS FILE.CAPACITY.csv ... - packs instances of github.com/google/minimalloc.
 *
 * A file has a line `id,lower,upper,size` per block, alive from lower to upper - 1. Prints what was
 * reached and the time; exits 1 when a packing is wrong, or larger than the capacity in the name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codegen_c/core/plan.h"
#include "codegen_c/plan/pack/pack_exact.h"

enum { MAX_BLOCKS = 2000 };

static int read_blocks(const char *path, struct block *blocks)
{
    FILE *file = fopen(path, "r");
    char line[200];
    int n = 0;

    if (!file) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    while (fgets(line, sizeof line, file) && n < MAX_BLOCKS) {
        int lower, upper;
        size_t bytes;

        if (sscanf(line, "%*[^,],%d,%d,%zu", &lower, &upper, &bytes) == 3)
            blocks[n++] = (struct block){ .bytes = bytes, .first = lower, .last = upper - 1 };
    }
    fclose(file);
    return n;
}

/* The number before ".csv"; 0 = none. */
static size_t capacity_of(const char *name)
{
    const char *dot = strchr(name, '.');

    return dot ? (size_t)strtoull(dot + 1, NULL, 10) : 0;
}

static struct packing pack_within(struct arena *arena, struct block *blocks, int n, size_t capacity,
                                  uint64_t work)
{
    struct packing packing = pack_blocks(arena, blocks, n, 0);

    if (packing.lower_bound < capacity)
        packing.lower_bound = capacity;
    if (packing.bytes > packing.lower_bound)
        pack_exact(arena, blocks, n, work, &packing);
    return packing;
}

static bool pack(const char *path, uint64_t work, double *total)
{
    static struct block blocks[MAX_BLOCKS];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const int n = read_blocks(path, blocks);
    const size_t capacity = capacity_of(name);
    struct arena arena = { NULL };
    const clock_t start = clock();
    const struct packing packing = pack_within(&arena, blocks, n, capacity, work);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    const bool valid = pack_verify(blocks, n, packing.bytes);
    const bool fits = packing.bytes <= (capacity ? capacity : packing.lower_bound);

    printf("  %-16s %4d blocks %9zu of %9zu bytes  %-9s %6.2f s %9" PRIu64 " nodes %11" PRIu64
           " steps\n",
           name, n, packing.bytes, capacity ? capacity : packing.lower_bound,
           !valid ? "WRONG"
           : fits ? "fits"
                  : "too large",
           seconds, packing.nodes, packing.work);
    fflush(stdout);
    *total += seconds;
    arena_release(&arena);
    return valid && fits;
}

int main(int argc, char **argv)
{
    const uint64_t work = argc > 1 ? strtoull(argv[1], NULL, 10) : PACK_WORK;
    double total = 0;
    int n_missed = 0;

    for (int i = 2; i < argc; i++)
        n_missed += !pack(argv[i], work, &total);
    printf("  %d of %d within capacity, %.2f s\n", argc - 2 - n_missed, argc - 2, total);
    return n_missed ? EXIT_FAILURE : EXIT_SUCCESS;
}
