# shellcheck shell=sh disable=SC2034
# board.sh - what the examples' scripts share: a program for a CPU, built and run, in QEMU but for the host. Source it
# from a script of examples/NAME; it needs relayc in PATH or $BUILD. Exit code 77: what an example needs is not here.
here=$(cd "$(dirname "$0")" && pwd)
support=$here/../support
BUILD=${BUILD:-build}
[ ! -d "$BUILD" ] || PATH=$(cd "$BUILD" && pwd):$PATH
shared=${RELAYC_SHARED:-../shared}
common='-O2 -Wall -Wextra -ffunction-sections -fdata-sections'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Sets cc, size, target, flags, and for the CPU's programs: startup (sources and options), platform (of judge.c)
board() { # host, or a CPU
    cpu=$1 target=$1 cc=arm-none-eabi-gcc size=arm-none-eabi-size nm=arm-none-eabi-nm
    firmware=$support/../../templates/firmware/cortex-m4-qemu
    startup="-nostartfiles -T $firmware/linker.ld -I$firmware $firmware/startup.c $firmware/semihosting.c
        $firmware/newlib.c"
    platform=$support/platform_cortex_m.c
    case $cpu in
    host) target=generic cc=${CC:-cc} size=size nm=nm flags='' startup='' platform=$support/platform_host.c ;;
    cortex-m4) machine=mps2-an386 flags='-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16' ;;
    cortex-m7) machine=mps2-an500 flags='-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16' ;;
    cortex-m55) machine=mps3-an547 flags='-mcpu=cortex-m55 -mthumb -mfloat-abi=hard' ;;
    rv32)
        machine=virt target=rv32imc cc=riscv64-unknown-elf-gcc size=riscv64-unknown-elf-size nm=riscv64-unknown-elf-nm
        flags='--specs=picolibc.specs -march=rv32imac -mabi=ilp32'
        startup='--crt0=hosted --oslib=semihost -Wl,--defsym=__flash=0x80000000 -Wl,--defsym=__flash_size=4M
            -Wl,--defsym=__ram=0x80400000 -Wl,--defsym=__ram_size=4M -Wl,--defsym=__stack_size=16K'
        platform=$support/platform_riscv32.c
        ;;
    *) echo "$0: found '$cpu', expected host, cortex-m4, cortex-m7, cortex-m55 or rv32" >&2 && exit 2 ;;
    esac
    command -v "${cc%% *}" >/dev/null || missing "no ${cc%% *}"
}

python() { # script, arguments ...
    PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-$BUILD/python/bin/python3}" "$@"
}

missing() { # what
    echo "SKIPPED: $*: $(basename "$here") does NOT run" >&2
    exit 77
}

needs() { # files
    for file in "$@"; do
        [ -e "$file" ] || missing "no $file (set RELAYC_SHARED)"
    done
}

board_build() { # the program, then sources and options
    program=$1
    shift
    # shellcheck disable=SC2086 # lists of words
    $cc $flags -std=c11 $common -Wl,--gc-sections -I"$support" -I"$work" -o "$program" "$@" $startup -lm
}

board_run() { # the program
    case $cpu in
    host)
        "$1"
        return
        ;;
    rv32) set -- qemu-system-riscv32 -bios none -kernel "$1" ;;
    *) set -- qemu-system-arm -kernel "$1" ;;
    esac
    timeout 600 "$@" -M "$machine" -icount shift=0 -display none -monitor none -serial null -chardev stdio,id=console \
        -semihosting-config enable=on,target=native,chardev=console </dev/null
}

# Bytes of the sections of the files, by a pattern of their names.
section_bytes() { # pattern, files ...
    pattern=$1
    shift
    $size -A "$@" | awk -v name="^($pattern)" '$1 ~ name { n += $2 } END { print n + 0 }'
}

# A network with main.c of the example and judge.c: compiled, built, run on the samples that $work holds.
judge() { # model, its reference, options of relayc compile ...
    model=$1 reference=$2
    shift 2
    relayc compile "$model" -q -o "$work" --name net --target "$target" "$@"
    for source in "$work"/net*.c; do
        # shellcheck disable=SC2086 # lists of words
        $cc $flags -std=c99 $common ${include:-} -I"$work" -c "$source" -o "${source%.c}.o"
    done
    # shellcheck disable=SC2086 # lists of words
    board_build "$work/program" -DREFERENCE="\"$reference\"" -Wa,-I"$work" ${include:-} "$here/main.c" \
        "$support/judge.c" "$support/samples.S" "$platform" "$work"/net*.o ${sources:-}
    code=0
    board_run "$work/program" >"$work/said" || code=$?
    constants=$(section_bytes '[.]s?rodata|[.]s?data' "$work"/net*.o) text=$(section_bytes '[.]text' "$work"/net*.o)
    sed '/^PASS\|^FAIL/d' "$work/said"
    echo "  flash, bytes   $((constants + text)) network ($text code, $constants constants)"
    echo "  machine        $cpu$([ "$cpu" = host ] || echo " (QEMU $machine)")"
    sed -n '/^PASS\|^FAIL/p' "$work/said"
    return $code
}
