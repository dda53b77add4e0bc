/* Macros of generated C, written out: what the C preprocessor makes of the text must stay the same. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/text/macros.h"
#include "codegen_c/text/register_loops.h"
#include "codegen_c/text/scalars.h"

static const struct {
    const char *given, *wanted;
} cases[] = {
    /* lists of lists, with pasted names; undefined again, and defined as something else */
    { "#define EACH(DO) DO(0) DO(1)\n#define ROW(DO, j) DO(j, 0) DO(j, 1)\nvoid f(void)\n{\n"
      "#define BEGIN(j, v) int sum##j##v = w[v];\n#define BEGIN_ROW(j) ROW(BEGIN, j)\n    "
      "EACH(BEGIN_ROW)\n"
      "#undef BEGIN\n#define BEGIN(j, v) x(j + v);\n    EACH(BEGIN_ROW)\n}\n",
      "\nvoid f(void)\n{\n    int sum00 = w[0]; int sum01 = w[1]; int sum10 = w[0]; int sum11 = "
      "w[1];\n"
      "    x(0 + 0); x(0 + 1); x(1 + 0); x(1 + 1);\n}\n" },
    /* empty ones, and a name without a call */
    { "#define WIDE\n#define ONCE(v)\nstatic WIDE void f(int ONCE)\n{\n    a(); ONCE(v)\n    "
      "b();\n}\n",
      "\nstatic void f(int ONCE)\n{\n    a();\n    b();\n}\n" },
    /* commas within brackets; itself; a call as an argument of itself */
    { "#define F(a) (F(a) + G)\n#define G H\n#define H G\nint x = F((1, 2)) + F(F(3));\n",
      "\nint x = (F((1, 2)) + G) + (F((F(3) + G)) + G);\n" },
    /* numbers are enums; what a condition defines or reads stays, with what it needs */
    { "#define LANES 4\n#define N 2\n#define USED(x) x\n#if N == 2\n#define INNER(x) "
      "USED(x)\n#endif\n"
      "int a = LANES + N + INNER(1);\n",
      "enum { LANES = 4 };\n#define N 2\n#define USED(x) x\n#if N == 2\n#define INNER(x) "
      "USED(x)\n#endif\n"
      "int a = LANES + N + INNER(1);\n" },
    /* strings and #-operators stay as they are */
    { "#define S(x) #x\n#define A 1 +\nchar *s = \"A\", *t = S(A);\n",
      "#define S(x) #x\nchar *s = \"A\", *t = S(1 +);\n" },
    /* what stays keeps what it reads: a macro of many arguments, and a number that a condition reads by another name */
    { "#define IN(x) x\n#define LIST(x, ...) IN(x)\n#define LANES 4\n#define WIDTH LANES\n#if "
      "WIDTH > 1\n"
      "int a = IN(1) + LANES;\n#endif\n",
      "#define IN(x) x\n#define LIST(x, ...) IN(x)\n#define LANES 4\n#define WIDTH LANES\n#if "
      "WIDTH > 1\n"
      "int a = IN(1) + LANES;\n#endif\n" },
    /* a macro that becomes the name of another, by pasting, too */
    { "#define ADD(a, b) a += b\n#define ADD8 ADD\n#define OF(v) OF_##v\n#define OF_1 ADD8\n"
      "void f(void)\n{\n    ADD8(x, 1);\n    OF(1)(y, z);\n}\n",
      "\nvoid f(void)\n{\n    x += 1;\n    y += z;\n}\n" },
    /* the end of a macro that went, or that there never was */
    { "#define A 1\nint a;\n#undef A\n#undef B\nint b = A;\n", "int a;\nint b = A;\n" },
    /* comments of what goes, and heads of sections without anything else, go too */
    { "/* --- from a.h --- */\n\n/* Nothing here. */\n#define WIDE\n\n/* --- from b.h --- */\n\n/* "
      "b */\nint b;\n",
      "\n\n/* --- from b.h --- */\n\n/* b */\nint b;\n" },
};

/* Vectors of one lane. */
static const struct {
    const char *given, *wanted;
} vectors[] = {
    { "typedef float vector_f32;\ntypedef vector_f32 vector4_f32;\n",
      "typedef float vector_f32;\ntypedef vector_f32 vector4_f32;\n" },
    { "const vector4_f32 v = *(const vector4_f32 *)&w[i];\n", "const float v = w[i];\n" },
    { "a = x * *(const vector_f32 *)&w[i + 1];\n*(vector_f32 *)&sum[2 * i] = s0 + s1;\n",
      "a = x * w[i + 1];\nsum[2 * i] = s0 + s1;\n" },
    { "vector_f32 a = { 0 }, b = { 0 };\nconst vector_f32 c = a;\n",
      "float a = 0.0f, b = 0.0f;\nconst float c = a;\n" },
    { "vector_f32 a = { 0 }, b = c, d = { 0, 1 };\n", "float a = 0.0f, b = c, d = { 0, 1 };\n" },
    { "f(one - (vector_f32){ 0 }, (vector_f32 *)&y[0], *(const vector_f32 *)p);\n",
      "f(one - 0.0f, (float *)&y[0], *(const float *)p);\n" },
    { "int v[2] = { 0 };\n", "int v[2] = { 0 };\n" },
};

/* Words of a microkernel, with ## for the macros that it becomes. */
static const struct {
    const char *definitions, *given, *wanted;
} fills[] = {
    { "#define ADD(sum, x) sum += x;\n#define FN f\n#define NO\n",
      "static NO void FN(void)\n{\n    ADD(s[j][v], MR)\n    NO\n    ADDED(FN) /* FN */\n}\n",
      "static void f(void)\n{\n    s[j][v] += MR;\n    ADDED(f) /* FN */\n}\n" },
    { "#define END(j, v) y[j] = sum##j##v;\n#define NAMES(k) a_##v + k\n",
      "#if 1\nEND(j, v) NAMES(1);\n#endif\n", "#if 1\ny[j] = sum##j##v; a_##v + 1;\n#endif\n" },
};

/* Loops over registers become lists. */
static const struct {
    const char *given, *wanted;
} loops[] = {
    /* a variable for each sum, declared where it begins; nested loops; a local with its index; types of pointers */
    { "void f(void)\n{\n    const float *xs[MR];\n    V sums[MR][NR];\n\n"
      "    for (int j = 0; j < MR; j++) /* BEGIN */\n        for (int v = 0; v < NR; v++)\n"
      "            sums[j][v] = (V){ 0 };\n"
      "    for (int j = 0; j < MR; j++) /* POINT */\n        xs[j] = &x[j];\n"
      "    while (n--) {\n        V ws[NR];\n\n        for (int v = 0; v < NR; v++) /* WEIGHT */\n"
      "            ws[v] = w[v];\n        for (int j = 0; j < MR; j++) { /* ADD */\n"
      "            const float x_k = xs[j][n];\n\n            for (int v = 0; v < NR; v++)\n"
      "                sums[j][v] += x_k * ws[v];\n        }\n    }\n}\n",
      "void f(void)\n{\n"
      "#define BEGIN(j, v) V sum##j##v = { 0 };\n#define BEGIN_PIXEL(j) VECTORS(BEGIN, j)\n"
      "    PIXELS(BEGIN_PIXEL)\n"
      "#define POINT(j) const float *const x##j = &x[j];\n    PIXELS(POINT)\n"
      "#define WEIGHT(j, v) const V w##v = w[v];\n#define ADD(j, v) sum##j##v += x##j##k * w##v;\n"
      "#define ADD_PIXEL(j) const float x##j##k = x##j[n]; VECTORS(ADD, j)\n"
      "    while (n--) {\n        VECTORS(WEIGHT, 0)\n        PIXELS(ADD_PIXEL)\n    }\n"
      "#undef BEGIN\n#undef BEGIN_PIXEL\n#undef POINT\n#undef WEIGHT\n#undef ADD\n#undef "
      "ADD_PIXEL\n}\n" },
    /* braces around a local of one name; conditions; what is always so; nothing; elements by number; a comment */
    { "void f(void)\n{\n    int as[NR];\n    for (int v = 0; v < NR; v++) { /* SET */\n"
      "        const int one = v;\n        as[v] = one;\n    }\n"
      "    for (int j = 0; j < MR; j++) /* END */\n        if (j < n)\n"
      "            for (int v = 0; v < NR; v++)\n                y[j] = as[v];\n"
      "    for (int j = 0; j < MR; j++) /* ALL: so */\n        if (j < MR)\n            y[j] = "
      "as[0];\n"
      "    for (int j = 0; j < MR; j++) /* NO */\n        if (j < n)\n"
      "            for (int v = 0; v < NR; v++) {\n            }\n    y[0] = as[1];\n}\n",
      "void f(void)\n{\n#define SET(j, v) { const int one = v; const int a##v = one; }\n    "
      "VECTORS(SET, 0)\n"
      "#define END(j, v) y[j] = a##v;\n#define END_PIXEL(j) if (j < n) { VECTORS(END, j) }\n"
      "    PIXELS(END_PIXEL)\n#define ALL(j) y[j] = a0;\n    PIXELS(ALL) /* so */\n"
      "    y[0] = a1;\n#undef SET\n#undef END\n#undef END_PIXEL\n#undef ALL\n}\n" },
    /* one name for two bodies in turn, and a scope for each */
    { "void f(void)\n{\n    {\n        int as[NR];\n        for (int v = 0; v < NR; v++) /* A */\n "
      "           as[v] = 1;\n"
      "    }\n    {\n        int as[NR];\n        for (int v = 0; v < NR; v++) /* A */\n           "
      " as[v] = 2;\n    }\n}\n",
      "void f(void)\n{\n#define A(j, v) const int a##v = 1;\n    {\n        VECTORS(A, 0)\n    }\n"
      "#undef A\n#define A(j, v) const int a##v = 2;\n    {\n        VECTORS(A, 0)\n    }\n#undef "
      "A\n}\n" },
    /* other loops stay */
    { "void f(void)\n{\n    for (int k = 0; k < n; k++)\n        a[k] = b[k][0];\n}\n",
      "void f(void)\n{\n    for (int k = 0; k < n; k++)\n        a[k] = b[k][0];\n}\n" },
};

static const char *without_blank_lines(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text), *to = copy;

    for (const char *at = text; *at; at++)
        if (*at != '\n' || (to > copy && to[-1] != '\n'))
            *to++ = *at;
    *to = '\0';
    return copy;
}

START_TEST(vectors_of_one_lane)
{
    struct arena arena = { NULL };
    const char *text = vectors[_i].given;

    scalars_write_out(&arena, &text, 1);
    ck_assert_str_eq(text, vectors[_i].wanted);
    arena_release(&arena);
}
END_TEST

START_TEST(written_out)
{
    struct arena arena = { NULL };
    const char *text = cases[_i].given;

    macros_write_out(&arena, &text, 1);
    ck_assert_str_eq(without_blank_lines(&arena, text),
                     without_blank_lines(&arena, cases[_i].wanted));
    arena_release(&arena);
}
END_TEST

/* What follows a definition that goes has the blank line in front of it. */
START_TEST(blank_lines)
{
    struct arena arena = { NULL };
    const char *text = "int a;\n\n#define B(v) int b##v;\n#define C(v) int c##v;\nB(0)\nC(0)\n";

    macros_write_out(&arena, &text, 1);
    ck_assert_str_eq(text, "int a;\n\nint b0;\nint c0;\n");
    arena_release(&arena);
}
END_TEST

/* A later part uses what an earlier one defines. */
START_TEST(parts_of_a_file)
{
    struct arena arena = { NULL };
    const char *texts[2] = { "#define TWICE(x) x x\n\n", "int a = TWICE(-) 1;\n" };

    macros_write_out(&arena, texts, 2);
    ck_assert_str_eq(without_blank_lines(&arena, texts[1]), "int a = - - 1;\n");
    arena_release(&arena);
}
END_TEST

START_TEST(words_are_filled)
{
    struct arena arena = { NULL };

    ck_assert_str_eq(macros_fill(&arena, fills[_i].definitions, fills[_i].given), fills[_i].wanted);
    arena_release(&arena);
}
END_TEST

START_TEST(loops_over_registers_become_lists)
{
    struct arena arena = { NULL };
    const char *text = register_loops_to_lists(&arena, loops[_i].given, "PIXELS", "VECTORS");

    ck_assert_str_eq(without_blank_lines(&arena, text), loops[_i].wanted);
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("macros");
    TCase *tests = tcase_create("macros");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, written_out, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tests, parts_of_a_file);
    tcase_add_test(tests, blank_lines);
    tcase_add_loop_test(tests, vectors_of_one_lane, 0, (int)(sizeof vectors / sizeof *vectors));
    tcase_add_loop_test(tests, words_are_filled, 0, (int)(sizeof fills / sizeof *fills));
    tcase_add_loop_test(tests, loops_over_registers_become_lists, 0,
                        (int)(sizeof loops / sizeof *loops));
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
