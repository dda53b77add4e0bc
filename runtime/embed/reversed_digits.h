/* i, of 0 .. n - 1, with its digits of base 4 in reverse; n is a power of 2, whose last digit may be of base 2. */
static int reversed_digits(int i, int n)
{
    int place = 0;

    for (int span = n / 4; span > 0; span /= 4) {
        place += i % 4 * span;
        i /= 4;
    }
    return place + i;
}
