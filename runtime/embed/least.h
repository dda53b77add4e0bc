/* The smaller of two integers. */
static int least(int a, int b)
{
    return a < b ? a : b;
}
