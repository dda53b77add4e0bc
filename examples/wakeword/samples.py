"""Sounds (wav, 16 kHz, mono, 16 bit), one after another with a third of a second of silence around each, as raw samples or
as C: samples.py raw|c FILE.wav ..."""
import sys
import wave

SILENCE = bytes(2 * (16000 // 3))


def sound(path):
    with wave.open(path, "rb") as file:
        found = file.getframerate(), file.getnchannels(), file.getsampwidth()
        if found != (16000, 1, 2):
            sys.exit(f"{path}: found {found[0]} Hz, {found[1]} channels, {8 * found[2]} bits, expected 16000, 1, 16")
        return file.readframes(file.getnframes())


def main():
    form, *paths = sys.argv[1:]
    data = SILENCE + b"".join(sound(path) + SILENCE for path in paths)
    if form == "raw":
        sys.stdout.buffer.write(data)
        return
    numbers = memoryview(data).cast("h")
    print(f"#include <stdint.h>\n\nextern const int16_t samples[];\nextern const unsigned n_samples;\n"
          f"const unsigned n_samples = {len(numbers)};\nconst int16_t samples[{len(numbers)}] = {{")
    for i in range(0, len(numbers), 16):
        print(" ", *(f"{n}," for n in numbers[i : i + 16]))
    print("};")


main()
