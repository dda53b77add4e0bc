#ifndef TOY_ADD_H
#define TOY_ADD_H

static inline float toy_add(float a, float b)
{
    return a + b;
}

#endif
