/* fold.h - one function for regions of one kernel that differ in shape, too. */
#ifndef CODEGEN_C_PRINT_FOLD_H
#define CODEGEN_C_PRINT_FOLD_H

struct codegen;

/* After the regions of all n networks are printed: functions whose text differs in numbers of their
 * shape and in constant arrays only become one, which is given both. One for regions of several
 * networks goes to codegen->functions of each. */
void fold_shapes(struct codegen *const all[], int n);

/* What the driver says of the regions calls them as NAME.c does. */
void fold_rename_results(struct codegen *codegen);

#endif
