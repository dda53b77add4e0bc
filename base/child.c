#include "base/child.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/wait.h>

static _Atomic pid_t running[64];

enum { N_RUNNING = sizeof running / sizeof *running, CLAIMED = -1 };

static int claim(void)
{
    for (int i = 0; i < N_RUNNING; i++) {
        pid_t none = 0;

        if (atomic_compare_exchange_strong(&running[i], &none, CLAIMED))
            return i;
    }
    return -1;
}

/* No signal comes between the start and the note of it. */
int child_start(pid_t *pid, const posix_spawn_file_actions_t *actions, char *const words[],
                char *const environment[])
{
    const int slot = claim();
    posix_spawnattr_t how;
    sigset_t all, before, defaults;
    int error;

    if (slot < 0)
        return EAGAIN;
    error = posix_spawnattr_init(&how);
    if (error) {
        atomic_store(&running[slot], 0);
        return error;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    sigemptyset(&defaults); /* what is caught becomes usual by itself, what is ignored does not */
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&how, &defaults);
    posix_spawnattr_setsigmask(&how, &before);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                       POSIX_SPAWN_SETSIGMASK);
    error = posix_spawnp(pid, words[0], actions, &how, words, environment);
    atomic_store(&running[slot], error ? 0 : *pid);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    posix_spawnattr_destroy(&how);
    return error;
}

/* It leaves the table while its number is still its own. */
int child_wait(pid_t pid, int *status)
{
    siginfo_t info;

    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
        if (errno != EINTR)
            return -1;
    for (int i = 0; i < N_RUNNING; i++)
        if (atomic_load(&running[i]) == pid)
            atomic_store(&running[i], 0);
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

void child_kill_all(void)
{
    for (int i = 0; i < N_RUNNING; i++) {
        const pid_t pid = atomic_load(&running[i]);

        if (pid <= 0)
            continue;
        kill(-pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
}
