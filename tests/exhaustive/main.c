#include "tests/exhaustive/exhaustive.h"

int main(void)
{
    const int failed = sweep_math() + sweep_minifloats();

    return failed != 0;
}
