"""What a parser sees in C: calls, locks on every path, loops around waits, results that are looked at."""

import pytest

from osrag.quiz.programs.code import Code, is_code, prose_in
from osrag.quiz.programs.program import Need
from osrag.quiz.programs.same import form_of
from osrag.quiz.programs.structure import findings

LOCKS = Need(1, "paired", "pthread_mutex_lock", "pthread_mutex_unlock")
WAITS = Need(1, "loop_around", "pthread_cond_wait")


def seen(source: str, need: Need) -> str:
    (found,) = findings(Code(source), (need,))
    return found.seen


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);", "met"),
        ("pthread_mutex_lock(&m); if (n) return; pthread_mutex_unlock(&m);", "broken"),
        ("pthread_mutex_lock(&m); if (n) { pthread_mutex_unlock(&m); return; } pthread_mutex_unlock(&m);", "met"),
        ("if (n) pthread_mutex_lock(&m); work(); if (n) pthread_mutex_unlock(&m);", "met"),
        ("if (n) pthread_mutex_lock(&m); n = 0; if (n) pthread_mutex_unlock(&m);", "broken"),
        ("if (pthread_mutex_trylock(&m) == 0) { n++; pthread_mutex_unlock(&m); }", "met"),
        ("if (pthread_mutex_lock(&m) != 0) return; n++; pthread_mutex_unlock(&m);", "met"),
        ("int r = pthread_mutex_trylock(&m); if (r) return; n++; pthread_mutex_unlock(&m);", "met"),
        ("for (;;) { pthread_mutex_lock(&m); if (n) break; pthread_mutex_unlock(&m); }", "broken"),
        ("pthread_mutex_lock(&m); if (n) goto out; n++; out: pthread_mutex_unlock(&m);", "met"),
        ("pthread_mutex_lock(&m); switch (n) { case 0: return; default: break; } pthread_mutex_unlock(&m);", "broken"),
        ("n++;", "absent"),
    ],
)
def test_a_lock_is_given_back_on_every_path(body: str, expected: str):
    assert seen(f"void f(int n) {{ {body} }}", LOCKS) == expected


def test_a_lock_in_a_function_or_a_macro_of_the_students_own_counts_where_it_is_used():
    helpers = "static void in(void) { pthread_mutex_lock(&m); } static void out(void) { pthread_mutex_unlock(&m); }"
    assert seen(f"{helpers} void f(void) {{ in(); n++; out(); }}", LOCKS) == "met"
    assert seen(f"{helpers} void f(void) {{ in(); if (n) return; out(); }}", LOCKS) == "broken"
    macros = "#define IN() pthread_mutex_lock(&m)\n#define OUT() pthread_mutex_unlock(&m)\n"
    assert seen(f"{macros}void f(void) {{ IN(); n++; OUT(); }}", LOCKS) == "met"
    assert seen(f"{macros}void f(void) {{ IN(); if (n) return; OUT(); }}", LOCKS) == "broken"


def test_memory_that_could_not_be_had_need_not_be_given_back():
    need = Need(1, "paired", "malloc", "free")
    assert seen("int f(void) { int *p = malloc(8); if (p == NULL) return -1; free(p); return 0; }", need) == "met"
    assert seen(
        "int f(int n) { int *p = malloc(8); if (!p) return -1; if (n) return 1; free(p); return 0; }", need
    ) == ("broken")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("while (n == 0) pthread_cond_wait(&c, &m);", "met"),
        ("if (n == 0) pthread_cond_wait(&c, &m);", "broken"),
        ("for (;;) { if (n) break; pthread_cond_wait(&c, &m); }", "met"),
        ("for (;;) { pthread_mutex_lock(&m); if (!n) pthread_cond_wait(&c, &m); take(); }", "broken"),
        ("do { pthread_cond_wait(&c, &m); } while (n == 0);", "met"),
        ("while (n == 0) { waiting++; pthread_cond_wait(&c, &m); waiting--; }", "met"),
    ],
)  # fmt: skip
def test_a_loop_around_a_wait_tests_again(body: str, expected: str):
    assert seen(f"void f(void) {{ {body} }}", WAITS) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int *p = malloc(4); if (!p) return; free(p);", "met"),
        ("int *p = malloc(4); p[0] = 1; free(p);", "broken"),
        ("q->items = calloc(4, 4); if (q->items == NULL) return;", "met"),
        ("int *p; if ((p = malloc(4)) == NULL) return;", "met"),
        ("malloc(4);", "broken"),
        ("use(malloc(4));", "unclear"),
    ],
)
def test_what_a_call_returns_is_looked_at(body: str, expected: str):
    assert seen(f"void f(struct q *q) {{ {body} }}", Need(1, "checks", "malloc")) == expected


def test_one_call_before_another_through_functions():
    need = Need(1, "order", "execvp", "_exit")
    helper = "static void become(char **a) { execvp(a[0], a); _exit(127); }"
    assert seen(f"{helper} int f(char **a) {{ if (!fork()) become(a); return 0; }}", need) == "met"
    assert seen("int f(char **a) { _exit(1); execvp(a[0], a); }", need) == "broken"


def test_code_that_nests_without_end_is_not_read():
    assert Code("int f(void) { return " + "(" * 5000 + "1" + ")" * 5000 + "; }").deep
    assert not Code("int f(void) { " + "if (n) { " * 20 + "}" * 20 + " }").deep


def test_paths_that_are_too_many_are_left_open():
    body = "".join(f"if (a{n}) pthread_mutex_lock(&m); if (b{n}) pthread_mutex_unlock(&m);" for n in range(30))
    assert seen(f"void f(void) {{ {body} }}", LOCKS) == "unclear"


def test_words_beside_the_code():
    text = "The order of ids is the same for all.\n```c\nint f(void) { return 1; /* no circle */ }\n```"
    assert is_code(text) and not is_code("Lock the smaller id first.")
    assert "no circle" in prose_in(text) and "order of ids" in prose_in(text) and "return" not in prose_in(text)


MAX = "int max(int a, int b) { return a > b ? a : b; }"
SWAP = "void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (MAX, "int larger(int x, int y) { if (x > y) return x; return y; }", True),
        (MAX, "int m(int p, int q) { if (p < q) { return q; } else { return p; } }", True),
        (MAX, "int max(int a, int b) { return a < b ? a : b; }", False),
        (SWAP, "void exchange(int *x, int *y)\n{\n    int k;\n    k = *x;\n    *x = *y;\n    *y = k;\n}", True),
        (SWAP, "void swap(int a, int b) { int t = a; a = b; b = t; }", False),
        ("int f(int *p) { while (p != NULL) p++; return 1; }", "int g(int *q) { for (; q;) q += 1; return 1; }", True),
        ("int f(int i) { return a[i++]; }", "int f(int i) { return a[++i]; }", False),
        ("int g(int a) { return 2; } int f(void) { g(1); }", "int f(void) { g(1); } int g(int b) { return 2; }", True),
    ],
)  # fmt: skip
def test_the_same_program_in_another_spelling(one: str, other: str, same: bool):
    assert (form_of(Code(one)) == form_of(Code(other))) is same
