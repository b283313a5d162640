"""A long function cut to the lines that matter, with true numbers."""

from osrag.kernel.code import all_lines, key_lines
from osrag.types import ChunkKind, CodeChunk, LineRef


def code(name: str, text: str, first: int = 1, calls: tuple[str, ...] = ()) -> CodeChunk:
    last = first + text.rstrip("\n").count("\n")
    return CodeChunk(
        f"a.c:{first}-{last}:{name}", text, "a.c", LineRef(first, last), ChunkKind.FUNCTION, name, calls=calls
    )


BODY = "".join(f"\tstatement_{n} = {n};\n" for n in range(60))
HEAD = "/*\n * Wake a task.\n * @p: task\n */\nint wake(struct task *p)\n"
LONG = f"{HEAD}{{\n{BODY}\tif (p->vruntime)\n\t\tresched(p);\n}}\n"


def test_a_short_function_is_left_whole():
    chunk = code("f", "int f(void)\n{\n\treturn 1;\n}\n", first=10)
    assert [line.number for line in key_lines(chunk, "x", chars=1000)] == [10, 11, 12, 13]


def test_the_lines_that_matter_with_their_numbers():
    chunk = code("wake", LONG, first=100, calls=("resched",))
    lines = key_lines(chunk, "Where is vruntime checked?", chars=220)
    text = [line.text for line in lines]
    assert "int wake(struct task *p)" in text
    assert "\tif (p->vruntime)" in text
    assert sum(len(line.text) + 1 for line in lines) <= 220
    everything = {line.number: line.text for line in all_lines(chunk)}
    assert all(everything[line.number] == line.text for line in lines)


def test_a_budget_too_small_for_anything_is_no_error():
    assert key_lines(code("wake", LONG), "vruntime", chars=3) == []
