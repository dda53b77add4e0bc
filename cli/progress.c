/* progress.c - see progress.h. */
#include "cli/progress.h"

#include <unistd.h>

#include "cli/cli.h"
#include "measure/rounds.h"

struct progress progress_begin(const struct cli *cli)
{
    return (struct progress){ .shown = !cli->quiet && !cli->json && isatty(STDERR_FILENO),
                              .start = wall_seconds() };
}

void progress_show(struct progress *progress, const char *what, int64_t done, int64_t n)
{
    enum { WIDTH = 24 };
    const double time = wall_seconds(), spent = time - progress->start;
    const int full = (int)(done * WIDTH / n);

    if (!progress->shown || spent < 1 || (time - progress->last < 0.1 && done < n))
        return;
    progress->last = time;
    progress->begun = true;
    fprintf(stderr, "\r[%.*s%*s] %lld/%lld %s, %.0f s, ETA %.0f s \033[K", full,
            "########################", WIDTH - full, "", (long long)done, (long long)n, what,
            spent, spent / (double)done * (double)(n - done));
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->begun)
        fputs("\r\033[K", stderr);
    progress->begun = false;
}
