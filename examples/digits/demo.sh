#!/bin/sh
# From digits.onnx to C, from C to this machine and to a Cortex-M4 in QEMU; then compares the two.
# Fails unless both classify every test image alike. Instructions are counted on both: by callgrind
# here, by SysTick there. Everything is built in $BUILD/demo.
set -eu

cd "$(dirname "$0")/../.."
build=${BUILD:-build}
demo=$build/demo
here=examples/digits
support=examples/support
board=templates/firmware/cortex-m4-qemu
host_cc=${CC:-cc}
board_cc=arm-none-eabi-gcc
board_flags='-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffunction-sections -fdata-sections'
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Werror'
include="-I$demo -I$here -I$support -I$board -Wa,-I$here"

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

# The second program goes through the test set once only: for callgrind, under which time is slow
# and counts do not vary.
# shellcheck disable=SC2086
build_host() {
    compile "$host_cc" '' host
    for rounds in 20 1; do
        $host_cc -std=c11 -O2 $warnings $include -DROUNDS=$rounds -o "$demo/host/run_$rounds" \
            $here/main.c $support/platform_host.c $here/test_set.S "$demo"/host/digits*.o -lm
    done
}

# shellcheck disable=SC2086
build_board() {
    compile $board_cc "$board_flags" board
    $board_cc -std=c11 -O2 $board_flags $warnings $include -nostartfiles -Wl,--gc-sections \
        -T $board/linker.ld -o "$demo/board/digits.elf" $here/main.c $support/platform_cortex_m.c \
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
    sed -e ':again' -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|[, ]\)/\1,\2\3/' -e 't again'
}

count() { # program, key: with thousands separated
    value "$1" "$2" | commas
}

# Instructions within digits_run(), what it calls included, per inference.
count_host() {
    command -v valgrind > /dev/null || { echo 'instructions: no valgrind'; return; }
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect=digits_run \
        --callgrind-out-file=/dev/null "$demo/host/run_1" 2>&1 > "$demo/counted.txt" |
        awk -v images="$(value host images)" \
            '$2 == "Collected" { printf "%d instructions\n", $4 / images }' | commas
}

section_bytes() { # command, folder, a pattern of section names: in the objects of the network
    "$1" -A "$demo/$2"/digits*.o | awk -v name="^($3)" '$1 ~ name { n += $2 } END { print n + 0 }'
}

accuracy() {
    awk -v right="$(value "$1" right)" -v n="$(value "$1" images)" \
        'BEGIN { printf "%d of %d = %.2f %%", right, n, 100 * right / n }'
}

flash() { # command, folder
    code=$(section_bytes "$1" "$2" '[.]text')
    constants=$(section_bytes "$1" "$2" '[.](ro)?data')
    echo "$(echo $((code + constants)) | commas) ($(echo "$code" | commas) code)"
}

image_bytes() {
    arm-none-eabi-size "$demo/board/digits.elf" | awk 'NR == 2 { print $1 + $2 }'
}

test_bytes() {
    cat $here/test_images.npy $here/test_labels.npy | wc -c
}

row() {
    printf '  %-24s %-24s %s\n' "$@"
}

build_host
build_board
"$demo/host/run_20" > "$demo/host.txt"
run_board > "$demo/board.txt"

printf '\n  digits.onnx -> relayc -> digits.c -> gcc -> Cortex-M4\n'
sed -n '1s/^digits: /  /p' "$demo/relayc.log"
echo
sed -n 's/^|/   /p' "$demo/board.txt"
echo
row '' "this machine ($(uname -m))" 'Cortex-M4 (QEMU mps2-an386)'
row 'accuracy' "$(accuracy host)" "$(accuracy board)"
row 'one inference' "$(count_host)" "$(count board instructions) instructions"
row '' "$(value host nanoseconds | awk '{ printf "%.1f us", $1 / 1000 }')" '(not cycles)'
row 'arena, bytes' "$(count host arena)" "$(count board arena)"
row 'stack at most, bytes' '' "$(count board stack), main included"
row 'flash: network, bytes' "$(flash size host)" "$(flash arm-none-eabi-size board)"
row 'flash: all, bytes' '' "$(image_bytes | commas), $(test_bytes | commas) of them test images"
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
