/* openmp.c - the parts of a network made with --parallel, on OpenMP's threads: OMP_NUM_THREADS says
 * how many. Compile with -fopenmp and -DPARALLEL_FOR=kws_parallel_for, and kws.c with
 * -DKWS_THREADS. */
void PARALLEL_FOR(int n, void (*part)(void *job, int index), void *job);

void PARALLEL_FOR(int n, void (*part)(void *job, int index), void *job)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++)
        part(job, i);
}
