"""Imports go one way, for every module, and nothing heavy loads before it is needed."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
# From left to right: a module imports only from its own group or from groups before it. Modules of one tuple do not
# import each other.
ORDER = [
    ("errors", "types"),
    ("files", "glossary", "nesting", "numbers", "recent", "text", "wording", "settings", "prompts"),
    ("models",),
    ("index",),
    ("answer",),
    ("book", "kernel"),
    ("lab",),
    ("quiz",),
    ("study",),
    ("app",),
    ("evaluate",),
    ("space",),
    ("ui", "cli"),
]
PLACE = {package: place for place, group in enumerate(ORDER) for package in group}
# May not load with the command line; everything else may be imported at the head of a module.
HEAVY = {
    "torch",
    "transformers",
    "onnx",
    "onnxruntime",
    "gradio",
    "faiss",
    "datasets",
    "pdfplumber",
    "tree_sitter",
    "xllamacpp",
    "pyarrow",
    "jieba",
}


def modules() -> list[Path]:
    return [path for path in sorted((ROOT / "osrag").rglob("*.py")) if path.parent != ROOT / "osrag" / "__pycache__"]


def package_of(path: Path) -> str:
    return path.relative_to(ROOT / "osrag").with_suffix("").parts[0]


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "osrag":
            found |= {f"osrag.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_every_module_has_its_place():
    placed = {package_of(path) for path in modules()} - {"__init__", "__main__"}
    assert placed == set(PLACE)


def test_a_module_imports_from_its_left_only():
    wrong = []
    for path in modules():
        own = package_of(path)
        if own in ("__init__", "__main__"):
            continue
        for name in imports(path):
            if not name.startswith("osrag.") or name.split(".")[1] in ("__version__", own):
                continue
            other = name.split(".")[1]
            if PLACE[other] > PLACE[own] or (PLACE[other] == PLACE[own] and PLACE[own] >= PLACE["models"]):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
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


def test_only_the_command_that_was_chosen_loads():
    """The table of commands names functions of `osrag.cli`; what they need is imported with the command."""
    code = "import sys, osrag.cli; osrag.cli.parser(()); print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    loaded = {name for name in run.stdout.split() if name.startswith(("osrag.", "numpy"))}
    assert loaded == {"osrag.cli", "osrag.errors", "osrag.settings", "osrag.types"}


def test_osrag_is_imported_at_the_head_of_a_module():
    """Inside a function, or for type checkers only, nothing but a heavy library of others is imported."""
    wrong = []
    for path in [*modules(), ROOT / "app.py"]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and node not in tree.body:
                names = [alias.name for alias in node.names]
                if any(name.split(".")[0] == "osrag" for name in [getattr(node, "module", None) or "", *names]):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert wrong == []
