/* The lesser of two numbers. */
static int least(int a, int b)
{
    return a < b ? a : b;
}
