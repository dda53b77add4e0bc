/* words.h - names and elements in the text form, shared by print.c and parse.c. */
#ifndef RELAY_IR_TEXT_WORDS_H
#define RELAY_IR_TEXT_WORDS_H

#include "base/str.h"
#include "relay_ir/ir.h"

enum { MAX_WRITTEN_OUT = 16 }; /* elements; bigger constants are named by checksum */

/* Length of the leading name that needs no quotes: [A-Za-z0-9_.:/-]*, without a final ':', since
 * "%x: type" declares a parameter. */
size_t word_length(const char *text);

/* Appends element i so that element_parse restores its bits: decimal if exact, else the bit pattern
 * "0x7fc00001". */
void print_element(struct str *out, enum dtype dtype, const void *data, int64_t i);

/* "[v, ...]" if all n elements have equal bits, the elements if they are few, else "crc32:" and the
 * checksum of the bytes. */
void print_elements(struct str *out, enum dtype dtype, const void *data, int64_t n);

/* Parses one element into data[i] and advances *text past it. False if there is none or it does not
 * fit the type. */
bool element_parse(enum dtype dtype, const char **text, void *data, int64_t i);

unsigned long elements_checksum(enum dtype dtype, const void *data, int64_t n);
unsigned long payload_checksum(const struct value *value);

#endif
