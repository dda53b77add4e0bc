/* progress.c - see progress.h. */
#include "cli/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "measure/rounds.h"

static struct {
    pthread_mutex_t lock; /* of all below; steps report from several threads */
    pthread_cond_t stop;
    pthread_t thread;
    bool shown, running;
    bool begun;       /* a line is on the terminal */
    const char *what; /* of unknown length; NULL: nothing to show */
    bool counting;    /* progress_count has the line */
    double start, last;
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER, .stop = PTHREAD_COND_INITIALIZER };

static void erase(void)
{
    if (progress.begun)
        fputs("\r\033[K", stderr);
    progress.begun = false;
}

static void show_step(void)
{
    const double spent = wall_seconds() - progress.start;

    if (!progress.what || progress.counting || spent < 1)
        return;
    fprintf(stderr, "\r%s, %.0f s \033[K", progress.what, spent);
    fflush(stderr);
    progress.begun = true;
}

static void *tick(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&progress.lock);
    while (progress.running) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&progress.stop, &progress.lock, &until);
        if (progress.running)
            show_step();
    }
    pthread_mutex_unlock(&progress.lock);
    return NULL;
}

/* Without the thread steps of unknown length show nothing. */
void progress_start(bool shown)
{
    sigset_t all, before;

    progress.shown = shown;
    if (!shown)
        return;
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    progress.running = true;
    progress.running = pthread_create(&progress.thread, NULL, tick, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_stop(void)
{
    const bool running = progress.running;

    pthread_mutex_lock(&progress.lock);
    progress.running = false;
    progress.shown = false;
    erase();
    pthread_cond_signal(&progress.stop);
    pthread_mutex_unlock(&progress.lock);
    if (running)
        pthread_join(progress.thread, NULL);
}

void progress_step(const char *what)
{
    if (!progress.shown)
        return;
    pthread_mutex_lock(&progress.lock);
    erase();
    progress.what = what;
    progress.counting = false;
    progress.start = wall_seconds();
    pthread_mutex_unlock(&progress.lock);
}

static void show_count(const char *what, int64_t done, int64_t n)
{
    enum { WIDTH = 24 };
    const double time = wall_seconds(), spent = time - progress.start;
    const int full = (int)(done * WIDTH / n);

    if (spent < 1 || (time - progress.last < 0.1 && done < n))
        return;
    progress.last = time;
    progress.begun = true;
    fprintf(stderr, "\r[%.*s%*s] %lld/%lld %s, %.0f s, ETA %.0f s \033[K", full,
            "########################", WIDTH - full, "", (long long)done, (long long)n, what,
            spent, spent / (double)done * (double)(n - done));
    fflush(stderr);
}

void progress_count(const char *what, int64_t done, int64_t n)
{
    if (!progress.shown)
        return;
    pthread_mutex_lock(&progress.lock);
    if (!n || !done || !progress.counting) {
        erase();
        progress.start = wall_seconds();
    }
    progress.counting = n != 0;
    if (n && done)
        show_count(what, done, n);
    pthread_mutex_unlock(&progress.lock);
}

void progress_clear(void)
{
    if (!progress.shown)
        return;
    pthread_mutex_lock(&progress.lock);
    erase();
    pthread_mutex_unlock(&progress.lock);
}
