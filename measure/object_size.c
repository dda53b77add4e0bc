/* Offsets are those of the System V ABI's gABI, chapter 4 (ELF header and section headers). */
#include "measure/object_size.h"

#include <string.h>

#include "base/file.h"
#include "base/str.h"

enum {
    CLASS = 4, /* bytes of e_ident */
    DATA = 5,
    CLASS_64 = 2,
    DATA_BIG = 2,
    TYPE_NOTE = 7,
    TYPE_NOBITS = 8,
    FLAG_WRITE = 1,
    FLAG_ALLOC = 2,
    FLAG_EXECUTE = 4
};

struct elf {
    struct mapping file;
    bool wide, big;
};

/* An unsigned number of n bytes; 0 outside of the file. */
static uint64_t number_at(const struct elf *elf, uint64_t offset, int n)
{
    uint64_t number = 0;

    if (offset > elf->file.size || elf->file.size - offset < (uint64_t)n)
        return 0;
    for (int i = 0; i < n; i++)
        number |= (uint64_t)elf->file.data[offset + (uint64_t)i] << 8 * (elf->big ? n - 1 - i : i);
    return number;
}

/* A field whose place and width depend on the class. */
static uint64_t field(const struct elf *elf, uint64_t header, int at32, int at64)
{
    return number_at(elf, header + (uint64_t)(elf->wide ? at64 : at32), elf->wide ? 8 : 4);
}

static bool is_unwinding(const struct elf *elf, uint64_t names, uint64_t name)
{
    static const char *const prefixes[] = { ".eh_frame", ".ARM.ex", ".gcc_except_table" };

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t n = strlen(prefixes[i]);

        if (names + name < elf->file.size && elf->file.size - names - name > n &&
            memcmp(elf->file.data + names + name, prefixes[i], n) == 0)
            return true;
    }
    return false;
}

static void add_section(const struct elf *elf, uint64_t header, uint64_t names,
                        struct object_size *size)
{
    const uint64_t type = number_at(elf, header + 4, 4), flags = field(elf, header, 8, 8);
    const uint64_t bytes = field(elf, header, 20, 32);

    if (!(flags & FLAG_ALLOC) || type == TYPE_NOTE ||
        is_unwinding(elf, names, number_at(elf, header, 4)))
        return;
    if (flags & FLAG_EXECUTE)
        size->text += bytes;
    else if (type == TYPE_NOBITS)
        size->bss += bytes;
    else if (flags & FLAG_WRITE)
        size->data += bytes;
    else
        size->rodata += bytes;
}

bool object_size_add(struct ctx *ctx, const char *path, struct object_size *size)
{
    struct elf elf;
    uint64_t table, width, n, names;

    if (!file_map(ctx, path, &elf.file))
        return false;
    if (elf.file.size < 52 || memcmp(elf.file.data, "\177ELF", 4) != 0) {
        file_unmap(&elf.file);
        return diag_error(ctx, DIAG_BENCH, NULL, "the compiler's object file is no ELF file");
    }
    elf.wide = elf.file.data[CLASS] == CLASS_64;
    elf.big = elf.file.data[DATA] == DATA_BIG;
    size->machine = (int)number_at(&elf, 18, 2);
    table = field(&elf, 0, 32, 40);
    width = number_at(&elf, elf.wide ? 58 : 46, 2);
    n = number_at(&elf, elf.wide ? 60 : 48, 2);
    names = field(&elf, table + width * number_at(&elf, elf.wide ? 62 : 50, 2), 16, 24);
    for (uint64_t i = 0; i < n; i++)
        add_section(&elf, table + width * i, names, size);
    file_unmap(&elf.file);
    return true;
}
