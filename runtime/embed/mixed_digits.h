/* i, of 0 .. n - 1, with its digits in reverse: of base 4, then 2, 3 and 5, which are the factors of n. */
static int mixed_digits(int i, int n)
{
    int place = 0, left = n;

    while (left > 1) {
        int base = 5;

        if (left % 4 == 0) {
            base = 4;
        } else if (left % 2 == 0) {
            base = 2;
        } else if (left % 3 == 0) {
            base = 3;
        }
        left /= base;
        place += i % base * left;
        i /= base;
    }
    return place;
}
