/* The index, of n elements, of element i of the sequence that repeats its first and last element. */
static int pad_edge(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}
