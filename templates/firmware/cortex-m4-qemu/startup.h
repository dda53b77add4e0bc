/* startup.h - what a program may ask its start-up code. */
#ifndef STARTUP_H
#define STARTUP_H

/* The most that the stack was ever filled since reset. */
unsigned long stack_bytes_used(void);

#endif
