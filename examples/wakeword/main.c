/* main.c - sound in, a word out: samples become features (sound_features.c), features go through a
 * network that relayc compiled (net.h), and its scores over time are drawn. On the host it reads
 * raw 16-bit samples of 16 kHz from standard input; on a bare Cortex-M they are linked in
 * (SAMPLES). The script `run` says what the network's macros are called. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sound_features.h"
#include "net.h"

#ifdef SAMPLES
#include "startup.h"
#include "systick.h"
#else
#include <time.h>
#endif

#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b) JOIN_AGAIN(a, b)

enum {
    IN_LEN = JOIN(IN, _LEN),
    OUT_LEN = JOIN(OUT, _LEN),
    ROWS = IN_LEN / FEATURES_CHANNELS, /* of features, that one run of the network reads */
#ifdef KEEPS_STATE
    STEP =
        160, /* a network with a state reads each row once; those of microWakeWord, every 10 ms */
    RUN_EVERY = ROWS,
    AVERAGED = 5, /* scores, of which the mean decides */
#else
    STEP = 320, /* a network without one reads the last second again, in rows of 20 ms */
    RUN_EVERY = 2,
    AVERAGED = 3,
#endif
    CHUNK = 160, /* samples that are taken at once: divides a window and a step */
    COLUMNS = 64,
    MOST_SCORES = 4096,
    HEIGHT = 8
};

static const char *const words[] = { WORDS };
enum {
    N_WORDS = sizeof words / sizeof *words
}; /* the last outputs; before them silence, unknown */

static struct features features;
static struct features_scratch scratch;
static int8_t rows[ROWS * FEATURES_CHANNELS]; /* oldest first */
static OUT_T scores[OUT_LEN];
static union {
    unsigned char bytes[NET_ARENA_BYTES + 1];
    double align;
} arena __attribute__((aligned(NET_ARENA_ALIGN)));
#ifdef KEEPS_STATE
static struct net_state state;
#endif

static unsigned char drawn[MOST_SCORES][N_WORDS]; /* percent */
static int n_drawn;
static uint64_t spent_on_features, spent_on_network;
static unsigned n_features, n_runs;

/* --- sound and time --------------------------------------------------------------------------- */

#ifdef SAMPLES

extern const int16_t samples[];
extern const unsigned n_samples;

static int next_samples(int16_t *out)
{
    static unsigned at;
    const int more = n_samples - at >= CHUNK;

    if (more) {
        memcpy(out, samples + at, CHUNK * sizeof *out);
        at += CHUNK;
    }
    return more;
}

static const char unit[] = "instructions";

static uint64_t start(void)
{
    systick_start();
    return 0;
}

static uint64_t since(uint64_t started)
{
    (void)started;
    return systick_instructions();
}

#else

static int next_samples(int16_t *out)
{
    return fread(out, sizeof *out, CHUNK, stdin) == CHUNK;
}

static const char unit[] = "ns";

static uint64_t start(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t since(uint64_t started)
{
    return start() - started;
}

#endif

/* --- the network ------------------------------------------------------------------------------ */

static int run(void)
{
    const uint64_t started = start();
#ifdef KEEPS_STATE
    const int code = net_run(rows, scores, &state, arena.bytes);
#else
    const int code = net_run(rows, scores, arena.bytes);
#endif

    spent_on_network += since(started);
    n_runs++;
    return code;
}

/* Each word's score as the mean of the last runs; a word is heard when that rises over the
 * threshold. */
static void judge(unsigned now)
{
    static float recent[AVERAGED][N_WORDS];
    static int heard[N_WORDS];

    memmove(&recent[1], &recent[0], sizeof recent - sizeof recent[0]);
    for (int w = 0; w < N_WORDS; w++) {
        float mean = 0;

        recent[0][w] =
            (float)(scores[OUT_LEN - N_WORDS + w] - JOIN(OUT, _ZERO_POINT)) * JOIN(OUT, _SCALE);
        for (int i = 0; i < AVERAGED; i++) {
            mean += recent[i][w] / AVERAGED;
        }
        if (mean >= THRESHOLD && !heard[w]) {
            printf("  %u.%02u s  \"%s\"\n", now / FEATURES_RATE,
                   now % FEATURES_RATE / (FEATURES_RATE / 100), words[w]);
        }
        heard[w] = mean >= THRESHOLD;
        if (n_drawn < MOST_SCORES) {
            drawn[n_drawn][w] = (unsigned char)(mean * 100);
        }
    }
    n_drawn += n_drawn < MOST_SCORES;
}

static int listen(void)
{
    int16_t sound[CHUNK];
    unsigned n_rows = 0;

    for (unsigned now = CHUNK; next_samples(sound); now += CHUNK) {
        uint16_t row[FEATURES_CHANNELS];
        const uint64_t started = start();
        const bool full = features_take(&features, &scratch, sound, CHUNK, STEP, row);

        spent_on_features += since(started);
        if (!full) {
            continue;
        }
        n_features++;
        memmove(rows, rows + FEATURES_CHANNELS, sizeof rows - FEATURES_CHANNELS);
        for (int i = 0; i < FEATURES_CHANNELS; i++) {
            rows[IN_LEN - FEATURES_CHANNELS + i] = features_code(row[i]);
        }
        if (++n_rows % RUN_EVERY) {
            continue;
        }
        if (run() != 0) {
            return 1;
        }
        judge(now);
    }
    return 0;
}

/* --- the picture ------------------------------------------------------------------------------ */

static int highest(int column, int columns, int word)
{
    int most = 0;

    for (int i = column * n_drawn / columns; i < (column + 1) * n_drawn / columns; i++) {
        most = drawn[i][word] > most ? drawn[i][word] : most;
    }
    return most;
}

static void draw(int word)
{
    const int columns = n_drawn < COLUMNS ? n_drawn : COLUMNS;
    const double seconds = (double)n_drawn * RUN_EVERY * STEP / FEATURES_RATE;

    printf("\n  score of \"%s\"\n", words[word]);
    for (int level = HEIGHT; level > 0; level--) {
        printf(level == HEIGHT ? "  1.0 |" : level == HEIGHT / 2 ? "  0.5 |" : "      |");
        for (int c = 0; c < columns; c++) {
            putchar(highest(c, columns, word) * HEIGHT >= level * 100 - 50 ? '#' : ' ');
        }
        putchar('\n');
    }
    printf("  0.0 +");
    for (int c = 0; c < columns; c++) {
        putchar('-');
    }
    printf("\n      0 s%*.1f s\n", columns - 5, seconds);
}

int main(void)
{
    features_reset(&features);
    memset(rows, -128, sizeof rows);
#ifdef KEEPS_STATE
    net_reset(&state);
#endif
    printf("heard:\n");
    if (listen() != 0) {
        printf("FAIL\n");
        return 1;
    }
    for (int w = 0; w < N_WORDS; w++) {
        draw(w);
    }
    printf("\n  %-22s%u for each %d ms of sound\n", unit,
           (unsigned)(n_features ? spent_on_features / n_features : 0), STEP / 16);
    printf("  %-22s%u for each run of the network\n", "",
           (unsigned)(n_runs ? spent_on_network / n_runs : 0));
    printf("  RAM, bytes            %u arena, %u features, %u features' scratch, %u rows",
           (unsigned)NET_ARENA_BYTES, (unsigned)sizeof features, (unsigned)sizeof scratch,
           (unsigned)sizeof rows);
#ifdef KEEPS_STATE
    printf(", %u state", (unsigned)sizeof state);
#endif
#ifdef SAMPLES
    printf(", %lu stack", stack_bytes_used());
#endif
    printf("\n");
    return 0;
}
