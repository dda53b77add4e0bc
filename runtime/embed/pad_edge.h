/* Which of n elements stands at place i when the first and the last repeat for ever. */
static int pad_edge(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}
