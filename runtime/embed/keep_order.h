#ifndef EMBED_KEEP_ORDER_H
#define EMBED_KEEP_ORDER_H

/* Keeps each store where it is written: compilers would move all stores of a tile to its end. */
#define KEEP_ORDER __asm__("" ::: "memory");

#endif
