/* Which of n elements stands at place i when all of them repeat for ever. */
static int pad_wrap(int i, int n)
{
    const int rest = i % n;

    return rest < 0 ? rest + n : rest;
}
