/* damage.c - the damaged versions of a file, by number. */
#include <stdlib.h>
#include <string.h>

#include "tests/robustness/edit.h"
#include "tests/robustness/robustness.h"

enum { SMALL_FILE = 2048, TRUNCATIONS_OF_A_BIG_FILE = 256, HEAD = 1024, MOST_EDITS = 4 };

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

size_t random_below(uint64_t *state, size_t n)
{
    return n ? (size_t)(next(state) % n) : 0;
}

size_t n_truncations(const struct subject *subject)
{
    return subject->size <= SMALL_FILE ? subject->size : TRUNCATIONS_OF_A_BIG_FILE;
}

/* Half of the places lie in the first bytes, where nodes and headers are; the rest is mostly
 * payload. */
static size_t place(uint64_t *state, size_t size)
{
    return random_below(state, next(state) & 1 && size > HEAD ? HEAD : size);
}

static void flip_bit(uint8_t *bytes, size_t size, uint64_t *state)
{
    bytes[place(state, size)] ^= (uint8_t)(1u << (next(state) & 7));
}

static void overwrite_byte(uint8_t *bytes, size_t size, uint64_t *state)
{
    static const uint8_t telling[] = { 0, 1, 2, 0x7F, 0x80, 0xFF, '0', '-', '%', '(' };
    const size_t at = place(state, size);

    bytes[at] =
        next(state) & 1 ? telling[random_below(state, sizeof telling)] : (uint8_t)next(state);
}

/* A number that goes on and on: the longest varints, the greatest lengths. */
static void overwrite_run(uint8_t *bytes, size_t size, uint64_t *state)
{
    const size_t at = place(state, size), most = size - at;
    const size_t n = 1 + random_below(state, most < 10 ? most : 10);

    memset(bytes + at, next(state) & 1 ? 0xFF : 0x80, n < most ? n : most);
}

static void repeat_elsewhere(uint8_t *bytes, size_t size, uint64_t *state)
{
    const size_t from = place(state, size), to = place(state, size);
    const size_t most = size - (from > to ? from : to), n = 1 + random_below(state, 32);

    memmove(bytes + to, bytes + from, n < most ? n : most);
}

static void edit(uint8_t *bytes, size_t size, uint64_t *state)
{
    static void (*const edits[])(uint8_t *, size_t, uint64_t *) = {
        flip_bit,       flip_bit,      flip_bit,         overwrite_byte,
        overwrite_byte, overwrite_run, repeat_elsewhere,
    };

    edits[random_below(state, sizeof edits / sizeof *edits)](bytes, size, state);
}

static uint8_t *copy(const struct subject *subject, size_t size)
{
    uint8_t *bytes = malloc(size ? size : 1);

    if (!bytes)
        out_of_memory(size);
    memcpy(bytes, subject->bytes, size);
    return bytes;
}

static uint8_t *truncate_file(const struct subject *subject, size_t i, uint64_t *state,
                              size_t *size)
{
    *size = subject->size <= SMALL_FILE ? i : random_below(state, subject->size);
    return copy(subject, *size);
}

static uint8_t *edit_bytes(const struct subject *subject, uint64_t *state)
{
    uint8_t *bytes = copy(subject, subject->size);

    for (size_t n = next(state) & 1 ? 1 : 2 + random_below(state, MOST_EDITS - 1); n; n--)
        edit(bytes, subject->size, state);
    return bytes;
}

/* A third of the edits are blind; the others keep the file's form, and so get further. */
uint8_t *damage(const struct subject *subject, size_t i, size_t *size)
{
    uint64_t state = subject->seed ^ (uint64_t)i * 0xD1342543DE82EF95u;

    *size = subject->size;
    if (i < n_truncations(subject))
        return truncate_file(subject, i, &state, size);
    if (subject->kind == KIND_TENSORS || i % 3 == 0)
        return edit_bytes(subject, &state);
    return subject->kind == KIND_MODEL ? edit_model(subject->bytes, size, &state)
                                       : edit_text(subject->bytes, size, &state);
}
