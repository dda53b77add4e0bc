/* fold.h - one function for regions of one kernel that differ in shape, too. */
#ifndef CODEGEN_C_PRINT_FOLD_H
#define CODEGEN_C_PRINT_FOLD_H

struct codegen;

/* After the regions are printed: functions whose text differs in numbers of their shape and in
 * constant arrays only become one, which is given both. */
void fold_shapes(struct codegen *codegen);

#endif
