#!/bin/sh
# From digits.onnx to C, from C to this machine and to a Cortex-M4 in QEMU; then compares the two.
# Fails unless both classify every test image alike. Everything is built in $BUILD/demo.
set -eu

cd "$(dirname "$0")/../.."
build=${BUILD:-build}
demo=$build/demo
here=examples/digits
board=templates/firmware/cortex-m4-qemu
host_cc=${CC:-cc}
board_cc=arm-none-eabi-gcc
board_flags='-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffunction-sections -fdata-sections'
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Werror'
include="-I$demo -I$here -I$board -Wa,-I$here"

mkdir -p "$demo"
"$build/relayc" compile $here/digits.onnx -o "$demo" > "$demo/relayc.log"

# The network is C99 and compiled alone, so that its size can be told from everybody else's.
# shellcheck disable=SC2086 # lists of words
compile() { # compiler, flags, folder
    mkdir -p "$demo/$3"
    for file in "$demo"/digits*.c; do
        $1 -std=c99 -O2 $2 $warnings -c -o "$demo/$3/$(basename "$file" .c).o" "$file"
    done
}

# shellcheck disable=SC2086
build_host() {
    compile "$host_cc" '' host
    $host_cc -std=c11 -O2 $warnings $include -o "$demo/host/digits" \
        $here/main.c $here/platform_host.c $here/test_set.S "$demo"/host/digits*.o -lm
}

# shellcheck disable=SC2086
build_board() {
    compile $board_cc "$board_flags" board
    $board_cc -std=c11 -O2 $board_flags $warnings $include -nostartfiles -Wl,--gc-sections \
        -T $board/linker.ld -o "$demo/board/digits.elf" $here/main.c $here/platform_m4.c \
        $here/test_set.S $board/startup.c $board/semihosting.c "$demo"/board/digits*.o -lm
}

run_board() {
    timeout 300 qemu-system-arm -M mps2-an386 -kernel "$demo/board/digits.elf" -icount shift=0 \
        -display none -monitor none -serial null -chardev stdio,id=console \
        -semihosting-config enable=on,target=native,chardev=console < /dev/null
}

value() { # program, key
    sed -n "s/^$2 //p" "$demo/$1.txt"
}

commas() {
    sed -e ':again' -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/' -e 't again'
}

count() { # program, key: with thousands separated
    value "$1" "$2" | commas
}

section_bytes() { # a pattern of section names, in the board's objects of the network
    arm-none-eabi-size -A "$demo"/board/digits*.o | awk -v name="^($1)" '$1 ~ name { n += $2 } END { print n + 0 }'
}

accuracy() {
    awk -v right="$(value "$1" right)" -v n="$(value "$1" images)" \
        'BEGIN { printf "%d of %d = %.2f %%", right, n, 100 * right / n }'
}

row() {
    printf '  %-22s %-26s %s\n' "$@"
}

build_host
build_board
"$demo/host/digits" > "$demo/host.txt"
run_board > "$demo/board.txt"

code=$(section_bytes '[.]text')
constants=$(section_bytes '[.](ro)?data')
image=$(arm-none-eabi-size "$demo/board/digits.elf" | awk 'NR == 2 { print $1 + $2 }')
tests=$(($(wc -c < $here/test_images.npy) + $(wc -c < $here/test_labels.npy)))

printf '\n  digits.onnx -> relayc -> digits.c -> gcc -> Cortex-M4\n'
sed -n '1s/^digits: /  /p' "$demo/relayc.log"
echo
sed -n 's/^|/   /p' "$demo/board.txt"
echo
row '' 'this machine' 'Cortex-M4 (QEMU mps2-an386)'
row 'accuracy' "$(accuracy host)" "$(accuracy board)"
row 'one inference' "$(value host nanoseconds | awk '{ printf "%.1f us", $1 / 1000 }')" \
    "$(count board instructions) instructions (not cycles)"
row 'arena' "$(count host arena) bytes" "$(count board arena) bytes"
row 'stack at most' '' "$(count board stack) bytes, main included"
row 'flash for the network' '' "$(echo $((code + constants)) | commas) bytes: $(echo "$code" | commas) code, $(echo "$constants" | commas) constants"
row 'flash for everything' '' "$(echo "$image" | commas) bytes, $(echo "$tests" | commas) of them the test images"
echo

if [ "$(value host answers)" != "$(value board answers)" ]; then
    echo '  The two machines DISAGREE on some images.' >&2
    exit 1
fi
if [ "$(value host fingerprint)" = "$(value board fingerprint)" ]; then
    printf '  Both machines agree on every image, and on every bit of every score.\n\n'
else
    printf '  Both machines agree on every image (scores differ in their last bits).\n\n'
fi
