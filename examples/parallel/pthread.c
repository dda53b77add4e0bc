/* pthread.c - the parts of a network made with --parallel, on a pool of THREADS - 1 threads and the
 * caller. The threads are started by the first call and wait for work until the process ends.
 * Compile with -pthread and -DPARALLEL_FOR=kws_parallel_for, and kws.c with -DKWS_THREADS.
 *
 * Networks may run on several threads at a time: the pool then works for one region after the
 * other. */
#include <pthread.h>

#ifndef THREADS
#define THREADS 2
#endif

void PARALLEL_FOR(int n, void (*part)(void *job, int index), void *job);

static pthread_mutex_t one_caller = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_came = PTHREAD_COND_INITIALIZER, work_ended = PTHREAD_COND_INITIALIZER;

/* All under `lock`. */
static struct {
    void (*part)(void *job, int index);
    void *job;
    int n, next, running; /* parts; the first that nobody has taken; those that are at work */
    int started;          /* whether there are threads, or an attempt was made */
} work;

/* With the lock held; it is released while a part runs. */
static void take_parts(void)
{
    while (work.next < work.n) {
        const int index = work.next++;

        work.running++;
        pthread_mutex_unlock(&lock);
        work.part(work.job, index);
        pthread_mutex_lock(&lock);
        work.running--;
    }
    if (work.running == 0)
        pthread_cond_signal(&work_ended);
}

static void *worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (work.next >= work.n)
            pthread_cond_wait(&work_came, &lock);
        take_parts();
    }
    return NULL;
}

/* Where a thread cannot be had, the others and the caller do its part. */
static void start_threads(void)
{
    work.started = 1;
    for (int i = 1; i < THREADS; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, worker, NULL) == 0)
            pthread_detach(thread);
    }
}

void PARALLEL_FOR(int n, void (*part)(void *job, int index), void *job)
{
    pthread_mutex_lock(&one_caller);
    pthread_mutex_lock(&lock);
    if (!work.started)
        start_threads();
    work.part = part;
    work.job = job;
    work.n = n;
    work.next = 0;
    pthread_cond_broadcast(&work_came);
    take_parts();
    while (work.running > 0)
        pthread_cond_wait(&work_ended, &lock);
    work.n = work.next = 0;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&one_caller);
}
