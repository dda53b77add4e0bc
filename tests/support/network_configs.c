/* network_configs.c - the machines: compilers with the flags that generated C promises to pass
 * silently. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/support/network.h"

#define STRICT "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror "
#define SANITIZE                                                                                   \
    "-O1 -g1 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all "

#define RISCV_BARE                                                                                 \
    "--specs=picolibc.specs --crt0=hosted --oslib=semihost -mcmodel=medany -DEMBEDDED "            \
    "-Wl,--defsym=__flash=0x80000000,--defsym=__flash_size=8M "                                    \
    "-Wl,--defsym=__ram=0x80800000,--defsym=__ram_size=8M "
#define RISCV_RUNNER                                                                               \
    " -M virt -bios none -nographic -monitor none -serial none "                                   \
    "-semihosting-config enable=on,target=native -kernel"

#define BOARD "templates/firmware/cortex-m4-qemu/"
#define CORTEX_M                                                                                   \
    "-ffunction-sections -fdata-sections -nostartfiles -Wl,--gc-sections -DEMBEDDED -I" BOARD      \
    " -T " BOARD "linker.ld " BOARD "startup.c " BOARD "semihosting.c " BOARD "newlib.c "
#define CORTEX_M_RUNNER(machine)                                                                   \
    "timeout 3600 qemu-system-arm -M " machine " -display none -monitor none -serial null "        \
    "-chardev stdio,id=console -semihosting-config enable=on,target=native,chardev=console "       \
    "-kernel"

const struct config configs[] = {
    { "gcc", NULL, "gcc", STRICT "-O2", "", false, 0 },
    { "clang", NULL, "clang", STRICT "-O2", "", false, 0 },
    { "gcc-sanitized", NULL, "gcc", STRICT SANITIZE, "", false, 0 },
    { "clang-sanitized", NULL, "clang", STRICT SANITIZE, "", false, 0 },
    { "clang-memory", NULL, "clang", STRICT "-O1 -g1 -fsanitize=memory", "", false, 0 },
    { "aarch64", NULL, "aarch64-linux-gnu-gcc", STRICT "-O2 -static", "qemu-aarch64", false, 0 },
    { "armhf", NULL, "arm-linux-gnueabihf-gcc", STRICT "-O2 -static", "qemu-arm", false, 0 },
    { "riscv64", NULL, "riscv64-linux-gnu-gcc", STRICT "-O2 -static", "qemu-riscv64", false, 0 },
    { "rv64-bare", "rv64gc", "riscv64-unknown-elf-gcc",
      STRICT "-O2 -march=rv64imafdc -mabi=lp64d " RISCV_BARE, "qemu-system-riscv64" RISCV_RUNNER,
      true, 0 },
    { "rv32-bare", "rv32imafc", "riscv64-unknown-elf-gcc",
      STRICT "-O2 -march=rv32imafc -mabi=ilp32f " RISCV_BARE, "qemu-system-riscv32" RISCV_RUNNER,
      true, 0 },
    { "cortex-m3", "cortex-m3", "arm-none-eabi-gcc",
      STRICT "-O2 -mcpu=cortex-m3 -mfloat-abi=soft " CORTEX_M, CORTEX_M_RUNNER("mps2-an385"), true,
      0 },
    { "cortex-m4", "cortex-m4", "arm-none-eabi-gcc",
      STRICT "-O2 -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 " CORTEX_M,
      CORTEX_M_RUNNER("mps2-an386"), true, 0 },
    { "cortex-m7", "cortex-m7", "arm-none-eabi-gcc",
      STRICT "-O2 -mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-sp-d16 " CORTEX_M,
      CORTEX_M_RUNNER("mps2-an500"), true, 0 },
    /* The first 512 KiB of mps3-an547 are memory; code lies there. */
    { "cortex-m55", "cortex-m55", "arm-none-eabi-gcc",
      STRICT "-O2 -mcpu=cortex-m55 -mfloat-abi=hard " CORTEX_M, CORTEX_M_RUNNER("mps3-an547"), true,
      384 * 1024 },
};

const int n_configs = sizeof configs / sizeof *configs;

/* Paths come from the command line of a test; they are quoted for the shell all the same. */
static const char *quoted(struct arena *arena, const char *path)
{
    struct str out = { .arena = arena };

    str_add(&out, "'");
    for (; *path; path++)
        str_addn(&out, *path == '\'' ? "'\\''" : path, *path == '\'' ? 4 : 1);
    str_add(&out, "'");
    return str_text(&out);
}

static const char *first_lines(struct ctx *ctx, const char *path)
{
    struct mapping file;
    struct str text = { .arena = &ctx->perm };

    if (!file_map(ctx, path, &file))
        return "";
    str_addn(&text, (const char *)file.data, file.size < 1500 ? file.size : 1500);
    file_unmap(&file);
    return str_text(&text);
}

static bool shell(struct ctx *ctx, const char *command, const char *log, const char *what,
                  const char **reason)
{
    const int status = system(command);

    if (status == 0)
        return true;
    *reason = arena_printf(&ctx->perm, "%s failed (status %d): %s\n%s", what,
                           WIFEXITED(status) ? WEXITSTATUS(status) : -status, command,
                           first_lines(ctx, log));
    return false;
}

/* One line for each set of inputs. */
static bool largest_error(const char *text, int n_sets, double *error)
{
    int n = 0;

    *error = 0;
    while ((text = strstr(text, "error "))) {
        double one;

        if (sscanf(text, "error %lf", &one) != 1)
            return false;
        if (!(one <= *error))
            *error = one;
        n++;
        text++;
    }
    return n == n_sets;
}

bool config_run(struct ctx *ctx, const struct config *config, const struct network *network,
                const char *work, const struct codegen_result *result, double *error,
                const char **reason)
{
    struct arena *arena = &ctx->perm;
    const char *program = arena_printf(arena, "%s/%s.%s", work, network->name, config->name);
    const char *log = arena_printf(arena, "%s.log", program);
    const char **files = network_files(arena, work, result);
    struct str command = { .arena = arena };

    str_printf(&command, "%s %s -I%s -o %s %s", config->compiler, config->flags,
               quoted(arena, work), quoted(arena, program),
               quoted(arena, arena_printf(arena, "%s/driver.c", work)));
    for (int i = 0; i < result->n_files + result->n_host_files; i++)
        if (str_ends(files[i], ".c"))
            str_printf(&command, " %s", quoted(arena, files[i]));
    str_printf(&command, " %s -lm > %s 2>&1", result->host_flags, quoted(arena, log));
    if (!shell(ctx, str_text(&command), log, "the compiler", reason))
        return false;
    if (!shell(ctx,
               arena_printf(arena, "%s %s %s > %s 2>&1 < /dev/null", config->runner,
                            quoted(arena, program), config->bare ? "" : quoted(arena, work),
                            quoted(arena, log)),
               log, "the program", reason))
        return false;
    if (!largest_error(first_lines(ctx, log), network->n_sets, error)) {
        *reason = "the program did not print an error figure for every set";
        return false;
    }
    remove(program);
    return true;
}
