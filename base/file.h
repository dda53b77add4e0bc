/* file.h - input files, mapped read-only; output files, each written whole, and all of a command's
 * or none. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

struct mapping {
    const uint8_t *data; /* page-aligned; valid pointer also for an empty file */
    size_t size;
};

/* Maps a regular file (a pipe or "-" for stdin is read into memory). False after an error that
 * names the path. */
bool file_map(struct ctx *ctx, const char *path, struct mapping *out);

/* Maps the regular file `relative` beneath the folder `dir`. No symbolic link, hard link, '..' or
 * absolute path is followed (openat2 RESOLVE_BENEATH), because `relative` comes from an untrusted
 * model. `reason` says what was wrong when false is returned; no diagnostic is recorded. */
bool file_map_beneath(struct ctx *ctx, const char *dir, const char *relative, struct mapping *out,
                      const char **reason);

/* Tells the kernel that these pages may be dropped (they can be read again). */
void file_forget(const struct mapping *mapping, size_t offset, size_t size);

void file_unmap(struct mapping *mapping);

/* A set of output files. Each is written to a temporary file in its folder (base/temporary.h);
 * output_commit renames all of them, output_abort removes all of them, with the folders that were
 * made for them. Each file is replaced atomically; the set is not: a reader during the commit, or
 * after a SIGKILL or power cut in it, may find new files beside old ones. */
struct output_set {
    struct ctx *ctx;
    struct writer *writers;      /* newest first until output_finish */
    struct made_folder *folders; /* newest first */
    const char *swept;           /* last folder searched for files of dead processes */
    bool is_finished;
};

struct writer; /* a buffered file; the first failure is remembered and reported by output_commit */

/* Opens the output file `path`, making its folder if missing. Never NULL. */
struct writer *output_open(struct output_set *set, const char *path);

void writer_write(struct writer *writer, const void *bytes, size_t n);
void writer_text(struct writer *writer, const char *text);
void writer_printf(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Buffer space for at least n <= 64 KiB bytes; writer_advance then commits the bytes written. For
 * fast formatting. */
char *writer_reserve(struct writer *writer, size_t n);
void writer_advance(struct writer *writer, size_t n);

/* Bytes written so far. */
uint64_t writer_size(const struct writer *writer);

/* CRC-32 (IEEE 802.3, as in zip) of the bytes written so far; detects manual changes of generated
 * files. */
uint32_t writer_crc32(struct writer *writer);

/* Flushes and syncs all files: everything that can fail, except the renaming. False after an error;
 * the set is empty then. */
bool output_finish(struct output_set *set);

/* Calls output_finish if necessary, and renames the files in the order of opening. False after an
 * error: no file was replaced (if the renaming fails and the file system cannot exchange files,
 * earlier ones are new, and a note names them). The set is empty then. */
bool output_commit(struct output_set *set);
void output_abort(struct output_set *set);

#endif
