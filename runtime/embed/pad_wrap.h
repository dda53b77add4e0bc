/* The index, of n elements, of element i of the periodic sequence. */
static int pad_wrap(int i, int n)
{
    const int rest = i % n;

    return rest < 0 ? rest + n : rest;
}
