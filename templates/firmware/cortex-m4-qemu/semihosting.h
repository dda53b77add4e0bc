/* semihosting.h - a console and an exit code through the debugger, or through QEMU: Arm's
 * semihosting interface, the two calls that a test needs. Without a debugger the first call stops
 * the processor: firmware for the field writes to a serial port instead. */
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

void semihosting_write(const char *text);
void semihosting_exit(int code) __attribute__((noreturn));

#endif
