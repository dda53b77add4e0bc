/* child.h - child processes: compilers, workers. Each is a process group, so that an interrupt of
 * relayc ends it with all its descendants. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <spawn.h>
#include <sys/types.h>

/* posix_spawnp with the signal state from before relayc's start; 0, or errno. */
int child_start(pid_t *pid, const posix_spawn_file_actions_t *actions, char *const words[],
                char *const environment[]);

/* Waits for the child: 0 and its status, or -1 with errno. */
int child_wait(pid_t pid, int *status);

/* Kills all children and waits for them. Async-signal-safe. */
void child_kill_all(void);

#endif
