/* child.h - the programs that relayc starts: compilers, workers. Each is a process group of its
 * own, so that an interrupt, which reaches relayc only, ends it with all that it has started
 * itself. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <spawn.h>
#include <sys/types.h>

/* posix_spawnp with signals as they were when relayc began; 0, or errno. */
int child_start(pid_t *pid, const posix_spawn_file_actions_t *actions, char *const words[],
                char *const environment[]);

/* Waits for its end; -1 with errno, else 0 and its status. */
int child_wait(pid_t pid, int *status);

/* Ends all of them, and waits for them. For signal handlers, too. */
void child_kill_all(void);

#endif
