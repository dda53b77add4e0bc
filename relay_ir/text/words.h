/* words.h - the small words of the text form that print.c and parse.c must agree on. */
#ifndef RELAY_IR_TEXT_WORDS_H
#define RELAY_IR_TEXT_WORDS_H

#include "base/str.h"
#include "relay_ir/ir.h"

enum { MAX_WRITTEN_OUT = 16 }; /* elements; bigger constants are named by checksum */

/* Length of the name at the start of text that needs no quotes: [A-Za-z0-9_.:/-]*, without a ':'
 * at the end, because "%x: type" declares a parameter. */
size_t word_length(const char *text);

/* Appends element i so that element_parse gives the same bits: a decimal number where one does,
 * else the bit pattern "0x7fc00001". */
void print_element(struct str *out, enum dtype dtype, const void *data, int64_t i);

/* "[v, ...]" where all n elements have the same bits, the elements where they are few, else
 * "crc32:" and the checksum of the bytes. */
void print_elements(struct str *out, enum dtype dtype, const void *data, int64_t n);

/* Reads one element into data[i] and moves *text behind it. False when there is none or it does not
 * fit the type. */
bool element_parse(enum dtype dtype, const char **text, void *data, int64_t i);

unsigned long elements_checksum(enum dtype dtype, const void *data, int64_t n);
unsigned long payload_checksum(const struct value *value);

#endif
