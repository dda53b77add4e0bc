/* newlib.c - newlib's system calls, as far as printf needs them: the console is semihosting's, the
 * heap is what .bss leaves of the RAM, and there are no files. The generated C needs none of this.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "semihosting.h"

/* From linker.ld. */
extern char bss_end[], ram_end[];

/* newlib calls these by name and declares them nowhere. */
int _close(int file);
void _exit(int code) __attribute__((noreturn));
int _fstat(int file, struct stat *status);
int _getpid(void);
int _isatty(int file);
int _kill(int process, int signal);
int _lseek(int file, int offset, int whence);
int _read(int file, char *to, int n);
void *_sbrk(ptrdiff_t n);
int _write(int file, const char *from, int n);

/* The console takes text that ends with a zero: piece by piece. */
int _write(int file, const char *from, int n)
{
    char piece[64];

    (void)file;
    for (int i = 0, some; i < n; i += some) {
        some = n - i < (int)sizeof piece - 1 ? n - i : (int)sizeof piece - 1;
        memcpy(piece, from + i, (size_t)some);
        piece[some] = '\0';
        semihosting_write(piece);
    }
    return n;
}

void *_sbrk(ptrdiff_t n)
{
    static char *end = bss_end;
    char *const start = end;

    if (n > ram_end - start || n < bss_end - start) {
        errno = ENOMEM;
        return (void *)-1;
    }
    end += n;
    return start;
}

void _exit(int code)
{
    semihosting_exit(code);
}

int _fstat(int file, struct stat *status)
{
    (void)file;
    status->st_mode = S_IFCHR; /* a terminal: lines are shown as they come */
    return 0;
}

int _isatty(int file)
{
    (void)file;
    return 1;
}

int _read(int file, char *to, int n)
{
    (void)file, (void)to, (void)n;
    return 0;
}

int _lseek(int file, int offset, int whence)
{
    (void)file, (void)offset, (void)whence;
    return 0;
}

int _close(int file)
{
    (void)file;
    return 0;
}

int _getpid(void)
{
    return 1;
}

int _kill(int process, int signal)
{
    (void)process, (void)signal;
    errno = EINVAL;
    return -1;
}
