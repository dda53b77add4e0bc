/* verify_driver.c - main() of the program that relayc verify builds for another machine.
 *
 * A list of commands, made by relayc and linked in, says what to do with the memory of the
 * generated code; what it reads goes to standard output in hexadecimal. C99 and printf: it runs
 * under an operating system and on a bare board alike. Words of the list are of 32 bits, as the
 * machine has them: all that C is written for are little-endian.
 *
 *   kind space offset count size pitch   then, of WRITE, count * size bytes, filled up to 4
 *
 *   0 FILL   the arena and the outputs with 0xFF
 *   1 WRITE  count pieces of size bytes, pitch bytes apart
 *   2 READ   likewise
 *   3 CALL   region `space`, or all of them (0xFFFFFFFF)
 *   4 END    */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "verify_memory.h" /* N_SPACES, spaces[], space_bytes[], in[], out[]: written by relayc */

int relayc_call(int region, const void *const *inputs, void *const *outputs, void *arena);

extern const unsigned char relayc_commands[];

enum { FILL, WRITE, READ, CALL, END };

static void fill(void)
{
    memset(spaces[0], 0xFF, space_bytes[0]);
    for (int i = 1 + N_INPUTS; i < N_SPACES; i++)
        memset(spaces[i], 0xFF, space_bytes[i]);
}

static void show(const unsigned char *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    char line[62 + 2];
    size_t n = 0;

    for (size_t i = 0; i < bytes; i++) {
        line[n++] = digits[data[i] >> 4];
        line[n++] = digits[data[i] & 15];
        if (n == 62 || i + 1 == bytes) {
            line[n] = '\0';
            puts(line);
            n = 0;
        }
    }
}

static int call(uint32_t region)
{
    const int code =
        relayc_call(region == UINT32_MAX ? -1 : (int)region, inputs, outputs, spaces[0]);

    if (code)
        printf("returned %d in region %ld\n", code, region == UINT32_MAX ? -1L : (long)region);
    return code;
}

int main(void)
{
    const unsigned char *at = relayc_commands;

    for (;;) {
        uint32_t word[6];
        unsigned char *memory;

        memcpy(word, at, sizeof word);
        at += sizeof word;
        if (word[0] == END)
            break;
        if (word[0] == FILL) {
            fill();
            continue;
        }
        if (word[0] == CALL) {
            if (call(word[1]))
                return 1;
            continue;
        }
        memory = spaces[word[1]] + word[2];
        for (uint32_t i = 0; i < word[3]; i++, memory += word[5])
            if (word[0] == WRITE) {
                memcpy(memory, at, word[4]);
                at += word[4];
            } else {
                show(memory, word[4]);
            }
        if (word[0] == WRITE)
            at += (4 - word[3] * word[4] % 4) % 4;
    }
    puts("end");
    return 0;
}
