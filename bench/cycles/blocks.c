/* blocks.c - a plugin of QEMU that counts how often each basic block runs, by region of the network.
 *
 * The program calls an empty function of `marks` before each region: the one of region k lies k * 4 bytes behind the
 * first. When the next mark is reached, each block that ran since is written to `out`, a line each:
 *
 *     region address instructions runs jumps
 *
 * where jumps are those runs that were reached by a jump and not by the block before. QEMU's plugin interface, version
 * 1 and later (docs/devel/tcg-plugins in QEMU); Debian installs no header of it, so what is used is declared here. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

int qemu_plugin_version = PLUGIN_VERSION;
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int n, char **arguments);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t,
                                                              struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
                                          void (*run)(unsigned, void *), int flags, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*exits)(qemu_plugin_id_t, void *),
                                    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);

enum { MARK_BYTES = 4 };

struct block {
    uint64_t begin, end;
    size_t instructions;
    long mark; /* k, of mark_k; -1 = none */
    uint64_t runs, jumps;
    struct block *next;
};

static struct block *blocks;
static uint64_t marks, n_marks, reached;
static long region = -1;
static FILE *out;

/* Blocks of an address may be translated again, and are then further entries: readers add them up. */
static void write_region(void)
{
    for (struct block *block = blocks; block; block = block->next) {
        if (block->runs && region >= 0)
            fprintf(out, "%ld %" PRIx64 " %zu %" PRIu64 " %" PRIu64 "\n", region, block->begin,
                    block->instructions, block->runs, block->jumps);
        block->runs = block->jumps = 0;
    }
}

/* What follows the last mark may begin in its four bytes. */
static long mark_at(uint64_t address)
{
    const uint64_t offset = address - marks;

    return address >= marks && offset % MARK_BYTES == 0 && offset / MARK_BYTES < n_marks
               ? (long)(offset / MARK_BYTES)
               : -1;
}

static void block_runs(unsigned cpu, void *data)
{
    struct block *block = data;

    (void)cpu;
    if (block->mark >= 0) {
        write_region();
        region = block->mark;
    } else {
        block->runs++;
        block->jumps += block->begin != reached;
    }
    reached = block->end;
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *translated)
{
    struct block *block = calloc(1, sizeof *block);
    const size_t n = qemu_plugin_tb_n_insns(translated);
    const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(translated, n - 1);

    (void)id;
    if (!block)
        abort();
    block->begin = qemu_plugin_tb_vaddr(translated);
    block->end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
    block->instructions = n;
    block->mark = mark_at(block->begin);
    block->next = blocks;
    blocks = block;
    qemu_plugin_register_vcpu_tb_exec_cb(translated, block_runs, 0, block);
}

static void finish(qemu_plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    write_region();
    fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int n, char **arguments)
{
    (void)info;
    for (int i = 0; i < n; i++) {
        if (strncmp(arguments[i], "marks=", 6) == 0)
            marks = strtoull(arguments[i] + 6, NULL, 0);
        else if (strncmp(arguments[i], "n=", 2) == 0)
            n_marks = strtoull(arguments[i] + 2, NULL, 0);
        else if (strncmp(arguments[i], "out=", 4) == 0)
            out = fopen(arguments[i] + 4, "w");
    }
    if (!out || !n_marks)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
