"""Imports go one way, and nothing heavy loads before it is needed."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ORDER = ["models", "ingest", "index", "retrieve", "answer", "quiz", "evaluate", "ui"]
# May be imported from anywhere; parts.py and cli put the others together.
HEAVY = {
    "torch",
    "transformers",
    "gradio",
    "faiss",
    "datasets",
    "pdfplumber",
    "tree_sitter",
    "xllamacpp",
    "pyarrow",
    "jieba",
}


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_a_package_imports_from_its_left_only():
    wrong = []
    for place, package in enumerate(ORDER):
        later = {f"osrag.{name}" for name in ORDER[place + 1 :]}
        for path in (ROOT / "osrag" / package).rglob("*.py"):
            bad = [name for name in imports(path) if any(name == x or name.startswith(x + ".") for x in later)]
            wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in bad]
    assert wrong == []


def test_only_the_page_knows_gradio():
    users = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "osrag").rglob("*.py")
        if any(name.split(".")[0] == "gradio" for name in imports(path))
    ]
    assert all(user.startswith("osrag/ui/") for user in users), users


def test_the_command_line_starts_without_a_heavy_import():
    code = "import sys, osrag.cli; osrag.cli.parser(); print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert HEAVY & {name.split(".")[0] for name in run.stdout.split()} == set()
