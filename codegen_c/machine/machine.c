/* machine.c - see machine.h. */
#define _GNU_SOURCE /* syscall */
#include "codegen_c/machine/machine.h"

#include <string.h>

#if defined(__aarch64__) || defined(__riscv)
#include <sys/auxv.h> /* getauxval */
#elif defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h> /* syscall */
#endif
#endif

#include "base/str.h"

enum {
    KIB = 1024,
    LEAST_ALIGNMENT = 16 /* PLAN_ALIGN: offsets in the arena are multiples of it */
};

const struct machine machines[] = {
#define MACHINE(name, arch, lanes, registers, fpu, fma, adders, dot, bf16, l1, l2, far_l3,         \
                vectors, columns, flags, description)                                              \
    { name, ARCH_##arch, lanes,    registers, fpu,     fma,     ADDERS_##adders, DOT_##dot,        \
      bf16, l1 * KIB,    l2 * KIB, far_l3,    vectors, columns, flags,           description },
#include "codegen_c/machine/machines.def"
#undef MACHINE
};

const size_t n_machines = sizeof machines / sizeof *machines;

const char *machine_dot_name(enum machine_dot dot)
{
    static const char *const names[] = {
        [DOT_NONE] = "none", [DOT_VNNI] = "vnni",   [DOT_AMX] = "amx",
        [DOT_SDOT] = "sdot", [DOT_SMLAD] = "smlad", [DOT_MVE] = "mve"
    };

    return names[dot];
}

static const struct machine *row(const char *name)
{
    for (size_t i = 0; i < n_machines; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

#if defined(__x86_64__)
/* Whether an AMD CPU is a Zen 5 or later, which gcc 12's __builtin_cpu_is does not know: by its
 * family (AMD64 Architecture Programmer's Manual, volume 3, CPUID Fn0000_0001_EAX). */
static bool is_znver5(void)
{
    enum { ZEN_5 = 0x1a };
    unsigned int eax = 0, ebx, ecx, edx;

    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (eax >> 8 & 0xf) + (eax >> 20 & 0xff) >= ZEN_5;
}

/* Whether the system grants AMX's registers (Linux, Documentation/arch/x86/xstate: arch_prctl,
 * ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA): hypervisors and sandboxes may not. */
static bool amx_is_granted(void)
{
#if defined(__linux__)
    enum { REQUEST = 0x1023, TILES = 18 };

    return syscall(SYS_arch_prctl, REQUEST, TILES) == 0;
#else
    return false;
#endif
}

/* Whether an Intel CPU has AMX for bf16 and bytes, and AVX512_FP16, for which clang 14 has no name
 * (Intel SDM, volume 2, CPUID, leaf 7: EDX bits 22 to 25): a server since Sapphire Rapids. Without
 * AMX, C for x86-64-v4 is better. */
static bool is_sapphire_rapids(void)
{
    enum { FEATURES = 7, BF16_TO_INT8_BITS = 0xF << 22 };
    unsigned int eax, ebx, ecx, edx = 0;

    return __get_cpuid_count(FEATURES, 0, &eax, &ebx, &ecx, &edx) &&
           (edx & BF16_TO_INT8_BITS) == BF16_TO_INT8_BITS && amx_is_granted();
}
#endif

/* The host's name as CPUID gives it, where one binary runs on several CPUs. */
static const char *host_name(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
        return !__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512vbmi")
                   ? "x86-64-v4"
               : __builtin_cpu_is("intel") ? is_sapphire_rapids() ? "sapphirerapids" : "x86-64-v4"
               : !__builtin_cpu_is("amd")  ? "x86-64-v4"
               : is_znver5()               ? "znver5"
                                           : "znver4";
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "x86-64-v3" : "x86-64";
#elif defined(__aarch64__)
    return getauxval(AT_HWCAP) >> 20 & 1 ? "aarch64" : "generic"; /* HWCAP_ASIMDDP */
#elif defined(__arm__)
    return "armv7";
#elif defined(__riscv) && __riscv_xlen == 64
    return getauxval(AT_HWCAP) >> ('V' - 'A') & 1 ? "rv64gcv" : "rv64gc";
#else
    return "generic";
#endif
}

const struct machine *machine_host(void)
{
    return row(host_name());
}

static void unknown(struct ctx *ctx, const char *name)
{
    struct str list = { .arena = &ctx->perm };
    const char **names = arena_array(&ctx->perm, const char *, n_machines + 1), *nearest;

    for (size_t i = 0; i < n_machines; i++) {
        names[i] = machines[i].name;
        str_printf(&list, "%s, ", names[i]);
    }
    names[n_machines] = "host";
    diag_error(ctx, DIAG_USAGE, NULL, "--target: '%s' is not a CPU",
               str_safe(&ctx->perm, name, 80));
    nearest = str_nearest(name, names, n_machines + 1);
    if (nearest)
        diag_help(ctx, "did you mean %s? There are %shost", nearest, str_text(&list));
    else
        diag_help(ctx, "there are %shost", str_text(&list));
}

const struct machine *machine_find(struct ctx *ctx, const char *name)
{
    const struct machine *found = strcmp(name, "host") == 0 ? machine_host() : row(name);

    if (!found)
        unknown(ctx, name);
    return found;
}

static bool has_neon(const struct machine *machine)
{
    return machine->arch == ARCH_AARCH64 || strstr(machine->flags, "neon") != NULL;
}

static bool has_sdot(const struct machine *machine)
{
    return machine->dot == DOT_SDOT;
}

/* NEON and Helium have wider products, which texts ask for first. */
static bool has_dsp(const struct machine *machine)
{
    return machine->dot == DOT_SMLAD;
}

static bool has_mve(const struct machine *machine)
{
    return machine->dot == DOT_MVE;
}

static bool has_rvv(const struct machine *machine)
{
    return machine->lanes > 1;
}

static bool has_avx512(const struct machine *machine)
{
    return machine->lanes >= 16;
}

static bool has_avx(const struct machine *machine)
{
    return machine->lanes >= 8;
}

bool machine_has_deep_stack(const struct machine *machine)
{
    return machine->lanes > 1 && machine->l2_bytes > 0 && machine->arch != ARCH_WASM32;
}

bool machine_is_microcontroller(const struct machine *machine)
{
    return machine->arch == ARCH_RISCV32 || strstr(machine->flags, "-mcpu=cortex-m") != NULL;
}

bool machine_has_amx(const struct machine *machine)
{
    return machine->dot == DOT_AMX;
}

int machine_alignment(const struct machine *machine)
{
    const int vector = machine->lanes * (int)sizeof(float);

    return vector > LEAST_ALIGNMENT ? vector : LEAST_ALIGNMENT;
}

int machine_integer_lanes(const struct machine *machine)
{
    if (has_avx(machine))
        return machine->lanes;
    return has_neon(machine) || has_mve(machine) ? 4 : 0;
}

/* Macros by prefix, longer prefixes first; the architectures that have them, and which of their
 * CPUs do (NULL: any may). */
static const struct {
    const char *prefix;
    enum machine_arch archs[2];
    bool (*has)(const struct machine *machine);
} macros[] = {
    { "__AVX512", { ARCH_X86_64 }, has_avx512 },
    { "__AVX", { ARCH_X86_64 }, has_avx },
    { "__FMA__", { ARCH_X86_64 }, has_avx },
    { "__SSE", { ARCH_X86_64 }, NULL },
    { "__x86_64__", { ARCH_X86_64 }, NULL },
    { "__ARM_NEON", { ARCH_AARCH64, ARCH_ARM }, has_neon },
    { "__ARM_FEATURE_DOTPROD", { ARCH_AARCH64, ARCH_ARM }, has_sdot },
    { "__ARM_FEATURE_DSP", { ARCH_AARCH64, ARCH_ARM }, has_dsp },
    { "__ARM_FEATURE_SIMD32", { ARCH_AARCH64, ARCH_ARM }, has_dsp },
    { "__ARM_FEATURE_MVE", { ARCH_ARM }, has_mve },
    { "__ARM_", { ARCH_AARCH64, ARCH_ARM }, NULL },
    { "__aarch64__", { ARCH_AARCH64 }, NULL },
    { "__riscv_vector", { ARCH_RISCV32, ARCH_RISCV64 }, has_rvv },
    { "__riscv", { ARCH_RISCV32, ARCH_RISCV64 }, NULL },
    { "__wasm", { ARCH_WASM32 }, NULL },
};

static bool has_vnni(const struct machine *machine)
{
    return machine->dot == DOT_VNNI || machine->dot == DOT_AMX;
}

/* What compilers define with the CPU's flags. */
static const struct {
    const char *name;
    enum machine_arch arch;
    bool (*has)(const struct machine *machine);
} defined[] = {
    { "__AVX512VNNI__", ARCH_X86_64, has_vnni },
    { "__AVX512BW__", ARCH_X86_64, has_avx512 },
    { "__AVX512DQ__", ARCH_X86_64, has_avx512 },
    { "__AVX512F__", ARCH_X86_64, has_avx512 },
    { "__AVX512VL__", ARCH_X86_64, has_avx512 },
    { "__AVX2__", ARCH_X86_64, has_avx },
    { "__AVX__", ARCH_X86_64, has_avx },
    { "__F16C__", ARCH_X86_64, has_avx },
    { "__FMA__", ARCH_X86_64, has_avx },
    { "__SSE2__", ARCH_X86_64, NULL },
    { "__ARM_NEON", ARCH_AARCH64, NULL },
    { "__ARM_FEATURE_DOTPROD", ARCH_AARCH64, has_sdot },
    { "__ARM_FEATURE_MVE", ARCH_ARM, has_mve },
};

bool machine_defines(const struct machine *machine, const char *macro)
{
    for (size_t i = 0; i < sizeof defined / sizeof *defined; i++)
        if (strcmp(defined[i].name, macro) == 0)
            return machine->arch == defined[i].arch && (!defined[i].has || defined[i].has(machine));
    return false;
}

bool machine_never_defines(const struct machine *machine, const char *macro)
{
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++) {
        const enum machine_arch *archs = macros[i].archs;

        if (!str_starts(macro, macros[i].prefix))
            continue;
        if (machine->arch != archs[0] && machine->arch != archs[1])
            return machine->arch != ARCH_ANY;
        return macros[i].has && !macros[i].has(machine);
    }
    return false;
}

bool macro_is_of_instructions(const char *macro)
{
    for (size_t i = 0; i < sizeof defined / sizeof *defined; i++)
        if (strcmp(defined[i].name, macro) == 0)
            return true;
    return false;
}

/* An x86-64 CPU may also run code of rows behind its own, unless they have more than it has. */
static bool has_all_of(const struct machine *host, const struct machine *machine)
{
#if defined(__x86_64__)
    return machine->lanes <= host->lanes &&
           (!strstr(machine->flags, "avx512bf16") ||
            (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi")));
#else
    return machine <= host;
#endif
}

const char *machine_flags_here(const struct machine *machine)
{
    const struct machine *host = machine_host();

    if (strcmp(machine->flags, host->flags) == 0)
        return machine->flags;
    return machine->arch == host->arch && has_all_of(host, machine) ? machine->flags : "";
}
