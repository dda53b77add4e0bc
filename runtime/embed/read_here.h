#ifndef EMBED_READ_HERE_H
#define EMBED_READ_HERE_H

/* Reads *p here, not in front of the loops before, which need the registers. */
#define READ_HERE(p) __asm__ volatile("" : "+r"(p));

#endif
