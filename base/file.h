/* file.h - files in: mapped, read-only. Files out: each whole, and all of a command's or none. */
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
 * absolute path is followed (openat2 RESOLVE_BENEATH; trust.md 1.1), because `relative` comes from
 * an untrusted model. `reason` says what was wrong when false is returned; no diagnostic is
 * recorded. */
bool file_map_beneath(struct ctx *ctx, const char *dir, const char *relative, struct mapping *out,
                      const char **reason);

/* Tells the kernel that the pages of this part need not stay in memory (they can be read again). */
void file_forget(const struct mapping *mapping, size_t offset, size_t size);

void file_unmap(struct mapping *mapping);

/* A set of output files. Each is written to a temporary file in its folder (base/temporary.h);
 * output_commit renames all of them, output_abort removes all of them, with the folders that were
 * made for them. Each file is replaced by one step, so that whoever reads it has the old or the new
 * one; the set is not: whoever reads while it is renamed may find new files beside old ones, and so
 * does who looks after a SIGKILL or a power cut in that moment. */
struct output_set {
    struct ctx *ctx;
    struct writer *writers;      /* newest first until output_finish */
    struct made_folder *folders; /* newest first */
    const char *swept; /* the folder in which dead processes' files were looked for last */
    bool is_finished;
};

struct writer; /* a buffered file; the first failure is remembered and reported by output_commit */

/* Begins the file `path` (its folder is made if missing). Never NULL. */
struct writer *output_open(struct output_set *set, const char *path);

void writer_write(struct writer *writer, const void *bytes, size_t n);
void writer_text(struct writer *writer, const char *text);
void writer_printf(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for at least n bytes at the returned place; the caller writes there, then says how many it
 * wrote with writer_advance. For fast formatting. n is at most 64 KiB. */
char *writer_reserve(struct writer *writer, size_t n);
void writer_advance(struct writer *writer, size_t n);

/* The number of bytes written so far. */
uint64_t writer_size(const struct writer *writer);

/* CRC-32 (IEEE 802.3, as in zip) of the bytes written so far: tells a file that was changed by hand
 * from what was generated, at a tenth of the cost of a cryptographic hash. */
uint32_t writer_crc32(struct writer *writer);

/* Flushes and syncs all files: whatever can fail but the renaming. False after an error: then the
 * set is empty, as after output_abort. */
bool output_finish(struct output_set *set);

/* Finishes the files, where output_finish was not called, and renames them in the order of opening.
 * False after an error: then no file was replaced. (Where the renaming fails and the file system
 * cannot exchange two files, those before it are new: a note names them.) The set is empty then. */
bool output_commit(struct output_set *set);
void output_abort(struct output_set *set);

#endif
