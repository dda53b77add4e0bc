#ifndef EMBED_READ_HERE_H
#define EMBED_READ_HERE_H

/* What p points to is read behind this, not in front of loops, where it would take registers that these need. */
#define READ_HERE(p) __asm__ volatile("" : "+r"(p));

#endif
