/* pthread.c - the parts of a network made with --parallel, on a pool of THREADS - 1 threads and the
 * caller. The threads are started by the first call and wait for work until the process ends: awake
 * at first, as the next region comes within microseconds and to wake a thread takes tens of them;
 * after SPINS looks in vain they sleep.
 * Compile with -pthread and -DPARALLEL_FOR=kws_parallel_for, and kws.c with -DKWS_THREADS.
 *
 * Networks may run on several threads at a time: the pool then works for one region after the
 * other. */
#include <pthread.h>
#include <sched.h>

#ifndef THREADS
#define THREADS 2
#endif
#ifndef SPINS
#define SPINS 4000 /* some 100 us on x86; 0: to sleep at once */
#endif

void PARALLEL_FOR(int n, void (*part)(void *job, int index), void *job);

static pthread_mutex_t one_caller = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_came = PTHREAD_COND_INITIALIZER;
static int started; /* whether there are threads, or an attempt was made; under one_caller */

/* What is to be done. `part` and `job` change while nobody has a part only: who has got one reads
 * those that it belongs to. */
static struct {
    void (*part)(void *job, int index);
    void *job;
    int left;     /* parts that nobody has taken: 0 .. left - 1 */
    int unended;  /* parts that have not ended */
    int sleepers; /* threads that are to be woken */
} work;

static void pause_briefly(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Takes a part and does it, if there is one. */
static int do_part(void)
{
    int left = __atomic_load_n(&work.left, __ATOMIC_SEQ_CST);

    while (left > 0)
        if (__atomic_compare_exchange_n(&work.left, &left, left - 1, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            work.part(work.job, left - 1);
            __atomic_sub_fetch(&work.unended, 1, __ATOMIC_SEQ_CST);
            return 1;
        }
    return 0;
}

static void sleep_until_work(void)
{
    pthread_mutex_lock(&lock);
    __atomic_add_fetch(&work.sleepers, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&work.left, __ATOMIC_SEQ_CST) == 0)
        pthread_cond_wait(&work_came, &lock);
    __atomic_sub_fetch(&work.sleepers, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *unused)
{
    (void)unused;
    for (;;) {
        for (int spins = 0; spins < SPINS; spins++) {
            if (do_part())
                spins = 0;
            pause_briefly();
        }
        sleep_until_work();
        do_part();
    }
    return NULL;
}

/* Where a thread cannot be had, the others and the caller do its part. */
static void start_threads(void)
{
    started = 1;
    for (int i = 1; i < THREADS; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, worker, NULL) == 0)
            pthread_detach(thread);
    }
}

void PARALLEL_FOR(int n, void (*part)(void *job, int index), void *job)
{
    pthread_mutex_lock(&one_caller);
    if (!started)
        start_threads();
    work.part = part;
    work.job = job;
    __atomic_store_n(&work.unended, n, __ATOMIC_SEQ_CST);
    __atomic_store_n(&work.left, n, __ATOMIC_SEQ_CST);
    /* Who goes to sleep counts itself before it looks for work a last time. */
    if (__atomic_load_n(&work.sleepers, __ATOMIC_SEQ_CST) > 0) {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&work_came);
        pthread_mutex_unlock(&lock);
    }
    while (do_part())
        ;
    for (int spins = 0; __atomic_load_n(&work.unended, __ATOMIC_SEQ_CST) > 0; spins++)
        if (spins < SPINS)
            pause_briefly();
        else
            sched_yield(); /* there are more threads than cores */
    pthread_mutex_unlock(&one_caller);
}
