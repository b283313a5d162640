"""What the documents name exists: files, functions, links, commands; and the walks are as short as they should be."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "examples/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ARCHITECTURE = ROOT / "docs/architecture.md"
# `osrag/app/run.py: answer` or `osrag/app/parts.py: Parts.chat`
PLACE = re.compile(r"`(osrag/[\w/]+\.py): ([\w.]+)`")
FILE = re.compile(r"`((?:osrag|bench|tools|tests|docs|examples|index|assets)/[\w./-]+\.\w+)`")
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)\s#]+)")
COMMAND = re.compile(r"python -m osrag ([a-z][\w-]*)")
MOST_FUNCTIONS, MOST_MODULES = 12, 8  # from a click to the first words (issue of the redesign)


def definitions(path: Path) -> set[str]:
    """Functions, classes, methods and constants of a module: `answer`, `Parts`, `Parts.chat`."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def walks() -> dict[str, list[tuple[str, str]]]:
    """The steps of each walk of the architecture page: module and function."""
    text = ARCHITECTURE.read_text(encoding="utf-8")
    parts = re.split(r"^### Walk: (.+)$", text, flags=re.M)
    return {
        title: [found for line in body.splitlines() if re.match(r"\d+\. ", line) for found in PLACE.findall(line)[:1]]
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_every_place_that_the_architecture_names_exists():
    places = PLACE.findall(ARCHITECTURE.read_text(encoding="utf-8"))
    assert len(places) > 40
    missing = [f"{file}: {name}" for file, name in places if name not in definitions(ROOT / file)]
    assert missing == []


def test_the_walks_are_short():
    assert len(walks()) == 5
    for title, steps in walks().items():
        assert 4 <= len(set(steps)) <= MOST_FUNCTIONS, title
        assert len({file for file, _ in steps}) <= MOST_MODULES, title


def test_each_step_of_a_walk_is_reached_from_one_before_it():
    for title, steps in walks().items():
        seen = ""
        for file, name in steps:
            short = name.rsplit(".", 1)[-1]
            assert not seen or re.search(rf"\b{re.escape(short)}\b", seen), f"{title}: nothing before {name} names it"
            seen += source_of(ROOT / file, name)


def source_of(path: Path, name: str) -> str:
    text = path.read_text(encoding="utf-8")
    body: list[ast.stmt] = ast.parse(text).body
    for part in name.split("."):
        node = next(one for one in body if getattr(one, "name", "") == part)
        body = getattr(node, "body", [])
    return ast.get_source_segment(text, node) or ""


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_and_links_of_a_document_exist(path: Path):
    text = path.read_text(encoding="utf-8")
    missing = [name for name in FILE.findall(text) if not (ROOT / name).exists()]
    missing += [link for link in LINK.findall(text) if not (path.parent / link).exists()]
    assert missing == []


def test_commands_in_the_documents_exist():
    from osrag.cli import parser

    actions = [action for action in parser()._actions if action.choices and action.dest != "help"]
    known = {name for action in actions for name in action.choices or ()}
    for path in DOCUMENTS:
        used = set(COMMAND.findall(path.read_text(encoding="utf-8")))
        assert used <= known, path


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 145


def test_the_readme_counts_the_walk_throughs():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    walks = sum(path.read_text("utf-8").count("[[walk]]") for path in (ROOT / "examples/kernel/walks").glob("*.toml"))
    assert re.search(r"(\d+) mechanisms", text)[1] == str(walks)


def test_the_examples_are_told_whole_and_counted():
    """Each file stands in a row; a row of one file that begins with a number says how many lines it has."""
    folder = ROOT / "examples"
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", (folder / "README.md").read_text(encoding="utf-8"), flags=re.M)
    told: set[Path] = set()
    for names, text in rows:
        first, *others = (name.replace("{zh,en}", "*").replace("NN", "*") for name in re.findall(r"`(.+?)`", names))
        patterns = [first, *(f"{Path(first).parent}/{other}" for other in others)]
        found = {path for one in patterns for path in folder.glob(one.replace("NAME", "*"))}
        assert found, names
        told |= found
        if (counted := re.match(r"([\d,]+) ", text)) and patterns[0].endswith(".jsonl") and len(found) == 1:
            lines = next(iter(found)).read_text(encoding="utf-8").splitlines()
            assert int(counted[1].replace(",", "")) == sum(map(bool, lines)), names
    data = {path for path in folder.rglob("*.*") if path.suffix not in (".typ", ".c", ".h") and path.is_file()}
    inside = {path for path in data if any(above in told for above in (path, *path.parents))}
    assert sorted(path.name for path in data - inside if path.name != "README.md") == []


def test_every_fault_of_the_page_names_tests_that_exist():
    named = re.findall(r"`(tests/[\w/]+\.py): (\w+)`", (ROOT / "docs/faults.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [test for file, test in named if test not in definitions(ROOT / file)] == []
