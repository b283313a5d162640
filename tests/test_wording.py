"""The table of what a visitor reads: every key is used, every key that is used exists, both languages say the same."""

import ast
import functools
import re
import string
from collections.abc import Iterator

import pytest

from osrag.settings import ROOT
from osrag.wording import Said, in_language, say, table

SPEAKERS = {"say", "heading", "Said"}  # functions whose first argument is a key


@functools.cache
def modules() -> dict[str, tuple[ast.AST, ...]]:
    """The nodes of every module, by its path inside the package."""
    folder = ROOT / "osrag"
    paths = sorted(folder.rglob("*.py"))
    return {path.relative_to(folder).as_posix(): (*ast.walk(ast.parse(path.read_text("utf-8"))),) for path in paths}


def nodes() -> Iterator[ast.AST]:
    for own in modules().values():
        yield from own


def pattern_of(node: ast.AST) -> str | None:
    """A regular expression for the keys that an expression may give; None for one that is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [re.escape(part.value) if isinstance(part, ast.Constant) else "[a-z_]+" for part in node.values]
        return "".join(parts)
    return None


def calls() -> Iterator[ast.Call]:
    for node in nodes():
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SPEAKERS and node.args:
            yield node


def table_values(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SPEAKERS:
        return node.args[:1]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return node.values if isinstance(node, ast.Dict) else []


def test_every_key_is_used():
    texts = {node.value for node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    # A word without an underscore may be anything. A key is said, or stands in a table of words or a condition.
    said = {value.value for node in nodes() for value in table_values(node) if isinstance(value, ast.Constant)}
    texts = {text for text in texts if "_" in text or text in said}
    made = [pattern_of(node) for node in nodes() if isinstance(node, ast.JoinedStr)]
    made = [pattern for pattern in made if re.match(r"[a-z]{3}[a-z_]*_", pattern)]  # begins as a key does
    made += [pattern_of(one.args[0]) or "" for one in calls()]
    made += [text.replace("{}", "[a-z_]+") for text in texts if re.fullmatch(r"[a-z_]+_\{\}", text)]
    any_made = re.compile("|".join(f"(?:{one})" for one in made))
    unused = [key for key in table() if key not in texts and not any_made.fullmatch(key)]
    assert unused == []


def test_every_key_that_is_used_exists():
    wrong = []
    for call in calls():
        pattern = pattern_of(call.args[0])
        if pattern is not None and not any(re.fullmatch(pattern, key) for key in table()):
            wrong.append(ast.unparse(call))
    assert wrong == []


def test_why_a_file_cannot_be_read_is_told_in_the_language_of_the_page():
    """What readers of documents raise reaches a visitor; files of questions and answers are an operator's."""
    beside = {"book/asks.py", "book/answers.py", "cli/build.py"}
    plain = [
        f"{path}:{node.lineno}"
        for path, own in modules().items()
        if path not in beside
        for node in own
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "BadDocument"
        for text in (*node.args, *(word.value for word in node.keywords if word.arg == "hint"))
        if isinstance(text, ast.Constant | ast.JoinedStr)
    ]
    assert plain == []


@pytest.mark.parametrize("key", table())
def test_both_languages_say_the_same(key: str):
    assert set(table()[key]) == {"zh", "en"}
    fields = {
        language: {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
        for language, text in table()[key].items()
    }
    assert fields["zh"] == fields["en"]
    words = re.sub(r"\{[^}]*\}", "", table()[key]["en"])  # "{where}: {what}" has none
    seen = re.search(r"[\u4e00-\u9fff]", table()[key]["zh"]) or not re.search("[A-Za-z]", words)
    assert seen or key in ("language_button", "quiz_score", "doing_always")  # the last only frames a sentence


def test_an_unknown_key_or_a_missing_value_is_an_error():
    with pytest.raises(KeyError):
        say("no_such_key", "en")
    with pytest.raises(KeyError):
        say("page_label", "en")


def test_a_sentence_of_the_table_knows_itself_in_both_languages_and_others_stay_as_they_are():
    said = Said("row_at", where=Said("gift_line", number=3), what=Said("row_empty", field="question"))
    assert said == "line 3: question: is empty" and in_language(said, "zh") == "第 3 行：question：是空的"
    assert in_language("anything", "zh") == "anything"
