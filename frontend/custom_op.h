/* custom_op.h - an operator of the model that a C function of the user computes (--custom-op), for all importers. */
#ifndef FRONTEND_CUSTOM_OP_H
#define FRONTEND_CUSTOM_OP_H

struct custom_op {
    const char *given;       /* "my::Op=op.h:my_op", for messages */
    const char *domain, *op; /* "" is "ai.onnx" */
    const char *header;      /* what is included */
    const char *function;
    int n_shapes;              /* of results; those of further ones are in the model */
    const char *const *shapes; /* "0.0,0.1*2=f32": I.D is dim D of input I */
    int n_uses;                /* set by the import */
};

#endif
