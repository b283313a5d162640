"""Chunks of C: every function with its lines, and the file back from its chunks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.kernel.c_source import LONG_FILE_LINES, Piece, chunk_c, plain_comment
from osrag.kernel.clean_c import clean
from osrag.types import ChunkKind

SMALL = """\
// SPDX-License-Identifier: GPL-2.0
#include <linux/sched.h>

/*
 * Wake a task up.
 */
static __always_inline int wake(struct task *p, int n)
{
	if (!p)
		return helper(n);
	return n;
}
EXPORT_SYMBOL_GPL(wake);

#define TWICE(x) \\
	((x) + (x))

struct queue {
	int length;
};

enum state { READY, RUNNING };

static const struct ops fair_ops = {
	.pick	= pick_fair,
	.put	= put_fair,
};

core_initcall(wake_init);
"""


def pieces(text: str) -> tuple[Piece, ...]:
    return chunk_c(text.encode()).pieces


def named(text: str, name: str) -> Piece:
    return next(piece for piece in pieces(text) if piece.name == name)


def functions(text: str) -> list[str]:
    return [piece.name for piece in pieces(text) if piece.kind is ChunkKind.FUNCTION]


def test_joined_chunks_are_the_file():
    assert "".join(piece.text for piece in pieces(SMALL)) == SMALL


def test_a_function_has_its_comment_and_its_true_lines():
    wake = named(SMALL, "wake")
    lines = SMALL.split("\n")
    assert (wake.first, wake.last) == (4, 12)
    assert wake.text == "\n".join(lines[3:12]) + "\n"
    assert wake.comment == "Wake a task up."
    assert wake.calls == ("helper",)
    assert wake.exported


def test_structs_enums_macros_and_tables_are_chunks():
    kinds = {piece.name: piece.kind for piece in pieces(SMALL) if piece.name}
    assert kinds == {
        "wake": ChunkKind.FUNCTION,
        "TWICE": ChunkKind.MACRO,
        "queue": ChunkKind.STRUCT,
        "state": ChunkKind.ENUM,
        "fair_ops": ChunkKind.TABLE,
        "core_initcall(wake_init)": ChunkKind.TABLE,
    }
    assert named(SMALL, "fair_ops").calls == ("pick_fair", "put_fair")
    assert named(SMALL, "state").aliases == ("READY", "RUNNING")


@pytest.mark.parametrize(
    ("text", "kind", "name", "others"),
    [
        ("static struct mark {\n\tint at;\n} marks[] = {\n\t{ 1 },\n};\n", ChunkKind.TABLE, "marks", ("mark",)),
        ("static struct {\n\tint at;\n} marks[] = {\n\t{ 1 },\n};\n", ChunkKind.TABLE, "marks", ()),
        ("static struct data {\n\tint at;\n} held, *last;\n", ChunkKind.STRUCT, "data", ("held", "last")),
        ("static struct {\n\tint at;\n} held;\n", ChunkKind.STRUCT, "held", ()),
        ("typedef struct data {\n\tint at;\n} data_t;\n", ChunkKind.STRUCT, "data", ("data_t",)),
        ("static enum how { FAST, SLOW } mode;\n", ChunkKind.ENUM, "how", ("FAST", "SLOW", "mode")),
        ("enum { FAST, SLOW };\n", ChunkKind.ENUM, "FAST", ("FAST", "SLOW")),
    ],
)
def test_a_type_declared_together_with_a_variable_is_found_by_both_names(
    text: str, kind: ChunkKind, name: str, others: tuple[str, ...]
):
    piece = named(text, name)
    assert (piece.kind, piece.aliases) == (kind, others)
    assert piece.text == text


@pytest.mark.parametrize(
    ("head", "name", "others"),
    [
        ("DEFINE_SCHED_CLASS(fair)", "fair_sched_class", ("fair",)),
        ("DEFINE_PER_CPU(struct rq, queues)", "queues", ()),
    ],
)
def test_a_table_that_a_macro_defines_has_the_name_of_the_variable(head: str, name: str, others: tuple[str, ...]):
    piece = named(f"{head} = {{\n\t.pick = pick_fair,\n}};\n", name)
    assert (piece.kind, piece.aliases, piece.calls) == (ChunkKind.TABLE, others, ("pick_fair",))


def test_a_call_through_a_pointer_is_no_call_of_the_function_of_that_name():
    text = "void f(struct c *c)\n{\n\tc->pick(1);\n\tops.put (2);\n\tx = !(*c->pick)(3) + get(4);\n\tput(5);\n}\n"
    assert named(text, "f").calls == ("get", "put")


def test_a_system_call_is_found_by_both_names():
    text = "SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf, size_t, count)\n{\n\treturn ksys_read(fd);\n}\n"
    read = named(text, "sys_read")
    assert "read" in read.aliases
    assert (read.first, read.last) == (1, 4)
    assert functions("COMPAT_SYSCALL_DEFINE1(alarm, int, n)\n{\n}\n") == ["compat_sys_alarm"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int old(a, b)\nint a;\nchar *b;\n{\n\treturn a;\n}\n", ["old"]),
        ("asmlinkage __visible void __sched schedule(void)\n{\n}\n", ["schedule"]),
        ("static void __releases(rq->lock)\nfinish(struct rq *rq)\n{\n}\n", ["finish"]),
        ("void f(void) __acquires(x)\n{\n}\n", ["f"]),
        ("int (*pick(int n))(void)\n{\n\treturn 0;\n}\n", ["pick"]),
        ("__attribute__((noinline)) struct a *\nmake(void)\n{\n\treturn 0;\n}\n", ["make"]),
        ("BTF_ID_LIST(ids)\nBTF_ID(func, x)\n\nstatic int after(void)\n{\n\treturn 1;\n}\n", ["after"]),
        ("BPF_CALL_2(bpf_get, u64, a, u64, b)\n{\n\treturn a;\n}\n", ["bpf_get"]),
        ("void loop(void)\n{\n\tfor_each_process(p) {\n\t\tuse(p);\n\t}\n}\nvoid next(void)\n{\n}\n", ["loop", "next"]),
    ],
)
def test_functions_as_the_kernel_writes_them(text: str, names: list[str]):
    assert functions(text) == names


def test_both_variants_of_a_conditional_function():
    text = "#ifdef CONFIG_SMP\nint f(void)\n{\n\treturn 1;\n}\n#else\nint f(void)\n{\n\treturn 0;\n}\n#endif\n"
    assert functions(text) == ["f", "f"]


def test_a_conditional_that_cuts_a_statement_in_two():
    text = (
        "void f(void)\n{\n#ifdef A\n\tif (a) {\n#else\n\tif (b) {\n#endif\n\t\tuse(1);\n\t}\n}\n"
        "\nint g(void)\n{\n\treturn 2;\n}\n"
    )
    assert functions(text) == ["f", "g"]


def test_conditional_heads_with_one_body():
    text = (
        "#ifdef A\nSYSCALL_DEFINE2(clone, int, a, int, b)\n#else\nSYSCALL_DEFINE2(clone, int, b, int, a)\n#endif\n"
        "{\n\treturn 0;\n}\n"
    )
    assert functions(text) == ["sys_clone"]


def test_characters_of_more_than_one_byte_do_not_move_what_follows():
    text = "/* 唤醒 — naïve */\nint wake(void)\n{\n\treturn 0; /* 完 */\n}\n\nint next(void)\n{\n\treturn 1;\n}\n"
    wake, after = named(text, "wake"), named(text, "next")
    assert (wake.first, wake.last, after.first, after.last) == (1, 5, 7, 10)
    assert wake.text.startswith("/* 唤醒") and wake.text.endswith("}\n")
    assert after.text == "int next(void)\n{\n\treturn 1;\n}\n"


def test_text_that_is_not_utf8_comes_back_in_latin1():
    source = b"/* caf\xe9 */\nint f(void)\n{\n}\n"
    parsed = chunk_c(source)
    assert "".join(piece.text for piece in parsed.pieces).encode("latin-1") == source
    assert "Latin-1" in parsed.warnings[0]


def test_a_file_that_does_not_parse_still_gives_its_functions():
    text = "int broken(void\n{ %% @@ }}} (\n\nint whole(void)\n{\n\treturn 1;\n}\n"
    parsed = chunk_c(text.encode())
    assert "whole" in [piece.name for piece in parsed.pieces]
    assert not parsed.warnings
    assert chunk_c(b"\nint broken(void {%% @@\n").warnings == ("1 places do not parse, the first on line 2",)
    assert "".join(piece.text for piece in parsed.pieces) == text


def test_a_generated_header_is_kept_but_not_parsed():
    text = "#define R 1\n" * (LONG_FILE_LINES + 1)
    parsed = chunk_c(text.encode())
    assert {piece.kind for piece in parsed.pieces} == {ChunkKind.OTHER}
    assert "generated" in parsed.warnings[0]
    assert "".join(piece.text for piece in parsed.pieces) == text


def test_two_functions_on_one_line():
    text = "static int a(void) { return 1; } static int b(void) { return 2; }\n"
    assert functions(text) == ["a", "b"]
    assert "".join(piece.text for piece in pieces(text)) == text


def test_an_empty_file():
    assert pieces("") == ()


def test_clean_text_has_the_same_length_and_lines():
    text = (SMALL + "\nint f(void)\n{\n#ifdef A\n\tx(); // y {\n#endif\n}\n").encode()
    cleaned = clean(text)
    assert len(cleaned.text) == len(text)
    assert cleaned.text.count(b"\n") == text.count(b"\n")


C_WORDS = st.sampled_from(
    ["int f(void)\n{\n", "}\n", "/* a */", "#ifdef X\n", "#else\n", "#endif\n", '"s{"', "'{'", "(", ")", ";",
     "struct s {\n", "} x;\n", "#define M(x) \\\n\tx\n", "\n", "é", "SYSCALL_DEFINE0(fork)\n", "EXPORT_SYMBOL(f);\n",
     "for_each_x(a) {\n"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(C_WORDS, max_size=40))
def test_any_text_comes_back(words: list[str]):
    text = "".join(words)
    parsed = chunk_c(text.encode())
    assert "".join(piece.text for piece in parsed.pieces) == text
    assert all(piece.first <= piece.last for piece in parsed.pieces)


def test_plain_comment():
    assert plain_comment("/**\n * f - do it\n * @a: b\n *\n * More.\n */") == "f - do it\n@a: b\n\nMore."
    assert plain_comment("// one\n// two") == "one\ntwo"
