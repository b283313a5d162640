"""A long function cut to the lines that matter, with true numbers; a path through calls."""

from osrag.kernel.code import all_lines, focus_lines, render_lines
from osrag.kernel.reading_path import reading_path
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
    assert [line.number for line in focus_lines(chunk, "x", 1000)] == [10, 11, 12, 13]


def test_the_lines_that_matter_with_their_numbers():
    chunk = code("wake", LONG, first=100, calls=("resched",))
    lines = focus_lines(chunk, "Where is vruntime checked?", 220)
    text = [line.text for line in lines]
    assert "int wake(struct task *p)" in text
    assert "\tif (p->vruntime)" in text
    assert sum(len(line.text) + 1 for line in lines) <= 220
    everything = {line.number: line.text for line in all_lines(chunk)}
    assert all(everything[line.number] == line.text for line in lines)
    assert "…" in render_lines(lines)


def test_a_budget_too_small_for_anything_is_no_error():
    assert focus_lines(code("wake", LONG), "vruntime", 3) == []


def graph(*chunks: CodeChunk):
    known = {chunk.name: chunk for chunk in chunks}
    return lambda chunk: [known[name] for name in chunk.calls if name in known]


def steps(chunks, callees):
    return [(step.chunk.name, step.depth, step.called_by) for step in reading_path(chunks, callees).steps]


def test_callers_before_what_they_call():
    a, b, c = code("a", "x", 1, ("b",)), code("b", "x", 2, ("c",)), code("c", "x", 3)
    assert steps([c, a, b], graph(a, b, c)) == [("a", 0, ""), ("b", 1, "a"), ("c", 2, "b")]


def test_functions_that_nothing_connects_keep_their_order():
    a, b = code("a", "x", 1), code("b", "x", 2)
    assert steps([b, a], graph(a, b)) == [("b", 0, ""), ("a", 0, "")]


def test_a_circle_is_entered_at_the_best_hit():
    a, b = code("a", "x", 1, ("b",)), code("b", "x", 2, ("a",))
    assert steps([b, a], graph(a, b)) == [("b", 0, ""), ("a", 1, "b")]


def test_a_function_between_two_hits_is_named():
    a, hidden, c = code("a", "x", 1, ("hidden",)), code("hidden", "x", 2, ("c",)), code("c", "x", 3)
    path = reading_path([c, a], graph(a, hidden, c))
    assert path.steps[1].via == ("hidden",)
    assert path.edges == (("a", "hidden"), ("hidden", "c"))
