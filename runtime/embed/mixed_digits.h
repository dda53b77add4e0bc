/* i, of 0 .. n - 1, with its digits in reverse: of base 4, then 2, 3 and 5, which are the factors of n. */
static int mixed_digits(int i, int n)
{
    int place = 0;

    for (int left = n; left > 1;) {
        const int base = left % 4 == 0 ? 4 : left % 2 == 0 ? 2 : left % 3 == 0 ? 3 : 5;

        left /= base;
        place += i % base * left;
        i /= base;
    }
    return place;
}
