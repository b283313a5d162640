"""`build textbook --out DIR FILE…` and `build kernel --out DIR --source ARCHIVE`: make, change or list an index."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from osrag.app.parts import Parts
from osrag.book.build import BESIDE, BuildOptions, BuildReport, build_textbook
from osrag.book.chunking import Cut
from osrag.book.document import KINDS
from osrag.cli.console import ProgressBar, complain, show
from osrag.errors import BadDocument, BadInput, ModelNotFound
from osrag.index.manifest import DocumentEntry, read_manifest
from osrag.kernel.build import SubsystemReport, build_kernel, list_subsystems, remove_subsystem
from osrag.kernel.tree import read_tree
from osrag.kernel.walk_index import build_walks
from osrag.settings import ROOT, Settings

FILES = (
    "added; a file of the same name is replaced. *.asks.jsonl: questions about the other files, "
    "*.answers.jsonl: prepared answers from them"
)
WALKS = ROOT / "examples" / "kernel" / "walks"
MOST_WARNINGS = 20  # shown at once; drivers/ has thousands of files


def add_build(build: argparse.ArgumentParser) -> None:
    """Add a sub-command for each source."""
    sources = build.add_subparsers(dest="collection", required=True, metavar="COLLECTION")
    book = sources.add_parser(
        "textbook", help="PDF, Word, slides, scans, web pages, EPUB, notebooks, Markdown, FAQ, API reference"
    )
    book.add_argument("files", nargs="*", type=Path, metavar="FILE", help=FILES)
    book.add_argument("--kind", choices=KINDS, help="instead of detecting it")
    book.add_argument("--language", choices=("zh", "en"), help="instead of detecting it")
    book.add_argument("--category", default="", help="of these files")
    book.add_argument("--version", default="", help="of these files, where they do not say it: an edition, a release")
    book.add_argument("--url", default="", help="where readers find these files, where they do not say it")
    book.add_argument("--licence", default="", help="of the corpus, for the manifest")
    _add_common(book, "folder of the index", "document")
    book.set_defaults(run=run_textbook)
    kernel = sources.add_parser("kernel", help="functions and files of a Linux source, by subsystem")
    kernel.add_argument("--source", type=Path, metavar="ARCHIVE|DIR", help="linux-source-6.1.tar.xz or a source tree")
    kernel.add_argument(
        "--subsystem", action="append", default=[], metavar="NAME", help="kernel, mm, fs, net/ipv4; may be repeated"
    )
    walks = "walk-throughs, a TOML file or a folder of them; may be repeated (default: examples/kernel/walks)"
    kernel.add_argument("--walks", action="append", default=[], type=Path, metavar="PATH", help=walks)
    kernel.add_argument("--describe", choices=("code", "llm"), default="code", help="llm: the chat model writes too")
    _add_common(kernel, "folder of all collections", "subsystem")
    kernel.set_defaults(run=run_kernel)


def _add_common(command: argparse.ArgumentParser, folder: str, part: str) -> None:
    """Add the options that both sources have."""
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help=folder)
    command.add_argument("--remove", action="append", default=[], metavar="NAME", help=f"drop this {part}")
    command.add_argument("--list", action="store_true", help=f"show the {part}s and stop")
    command.add_argument("--fresh", action="store_true", help="begin anew, whatever lies in DIR")
    command.add_argument("--json", action="store_true", help="the result as JSON")


def run_textbook(args: argparse.Namespace, settings: Settings) -> int:
    """1 when a file could not be read; the others are in the index all the same."""
    if args.list:
        beside = (kind.manifest(args.out) for kind in BESIDE)
        manifests = (read_manifest(args.out), *(manifest for manifest in beside if manifest))
        for entry in (entry for manifest in manifests for entry in manifest.documents):
            _print_document(entry, as_json=args.json)
        return 0
    progress = ProgressBar()
    report = build_textbook(
        args.out,
        args.files,
        Parts(settings, progress=progress).encoder,
        cache_dir=settings.cache_dir,
        remove=args.remove,
        options=BuildOptions(
            kind=args.kind,
            language=args.language,
            category=args.category,
            version=args.version,
            url=args.url,
            licence=args.licence,
            fresh=args.fresh,
            cut=Cut(settings.chunk_chars, settings.chunk_overlap),
        ),
        progress=progress,
    )
    complain(f"{name}: {sentence}" if name not in sentence else sentence for name, sentence in report.failed)
    complain(report.warnings)
    _print_report(report, as_json=args.json)
    if report.failed and report.manifest is None:
        raise BadDocument("no file could be read, so no index was made", hint="the reasons are above")
    return int(bool(report.failed))


def _print_document(entry: DocumentEntry, *, as_json: bool) -> None:
    """Print one document of an index, with its warnings."""
    if as_json:
        show(entry.model_dump())
        return
    size = f"{entry.pages} pages, " if entry.pages else ""
    about = f"{entry.title} ({entry.language}, {entry.category}; {size}{entry.chunks} chunks)"
    rows = {"asks": "questions", "answers": "prepared answers"}.get(entry.category)
    print(f"{entry.name}: {f'{entry.chunks:,} {rows}' if rows else about}")
    for warning in entry.warnings:
        print(f"    {warning}")


def _print_report(report: BuildReport, *, as_json: bool) -> None:
    """Print what a build of the textbook did."""
    parts = {name: list(getattr(report, name)) for name in ("added", "replaced", "unchanged", "removed")}
    counts = report.manifest.counts if report.manifest else {}
    if as_json:
        told = {"failed": [list(pair) for pair in report.failed], "embedded": report.embedded, "asks": report.asks}
        told["answers"] = report.answers
        show({**parts, **told, "warnings": list(report.warnings), **counts})
        return
    for name, documents in parts.items():
        if documents:
            print(f"{name}: {', '.join(documents)}")
    if report.manifest:
        asks = f", {report.asks:,} questions" if report.asks else ""
        answers = f", {report.answers:,} prepared answers" if report.answers else ""
        print(f"the index holds {len(report.manifest.documents)} documents, {counts['chunks']} chunks{asks}{answers}")


def run_kernel(args: argparse.Namespace, settings: Settings) -> int:
    """Subsystems whose index already fits the source and the encoder are left as they are, unless `--fresh`."""
    if args.list:
        for entry in list_subsystems(args.out):
            _print_subsystem(entry, "", as_json=args.json)
        return 0
    for name in args.remove:
        remove_subsystem(args.out, name)
        print(f"removed: {name}", file=sys.stderr)
    if not args.subsystem and (args.remove or args.walks):
        if args.walks:
            _add_walks(args, settings)
        return 0
    if not args.subsystem or args.source is None:
        raise BadInput(
            "`build kernel` needs --source and at least one --subsystem",
            hint="for example --source linux-source-6.1.tar.xz --subsystem kernel --subsystem mm",
        )
    with ProgressBar() as progress:
        tree = read_tree(args.source, args.subsystem, progress)  # before any weights are fetched
        parts = Parts(settings, progress=progress)
        chat = parts.chat if args.describe == "llm" else None
        if args.describe == "llm" and chat is None:
            raise ModelNotFound("--describe llm needs a chat model", hint="OSRAG_PROFILE=retrieval has none")
        reports = build_kernel(
            args.out,
            tree,
            args.subsystem,
            parts.encoder,
            cache_dir=settings.cache_dir,
            progress=progress,
            chat=chat,
            fresh=args.fresh,
        )
    for report in reports:
        _complain_shortly(report.warnings, "files with a note")
        _print_subsystem(report, "built" if report.embedded else "unchanged", as_json=args.json)
    if args.walks or WALKS.is_dir():
        _add_walks(args, settings)
    return 0


def _add_walks(args: argparse.Namespace, settings: Settings) -> None:
    """Hold the walk-throughs against the index and store those that hold; the others are named."""
    files: list[Path] = []
    for path in args.walks or [WALKS]:
        if not path.exists():
            raise BadInput(f"--walks: there is no {str(path)!r}", hint="name a TOML file or a folder of them")
        files += sorted(path.glob("*.toml")) if path.is_dir() else [path]
    with ProgressBar() as progress:
        encoder = Parts(settings, progress=progress).encoder
        report = build_walks(args.out, files, encoder, cache_dir=settings.cache_dir, progress=progress)
    _complain_shortly(report.warnings, "walk-throughs that do not hold")
    if args.json:
        show({"walks": report.walks, "steps": report.steps, "warnings": list(report.warnings)})
    else:
        print(f"walk-throughs: {report.walks} with {report.steps} steps, {len(report.warnings)} left out")


def _complain_shortly(warnings: Sequence[str], what: str) -> None:
    """The first warnings, and how many more there are."""
    complain(warnings[:MOST_WARNINGS])
    if len(warnings) > MOST_WARNINGS:
        complain([f"and {len(warnings) - MOST_WARNINGS} more {what}"])


def _print_subsystem(report: SubsystemReport, done: str, *, as_json: bool) -> None:
    """`done` says what a build did; "" for a list."""
    if as_json:
        row = {"subsystem": report.subsystem, "kernel_version": report.version}
        row |= {name: getattr(report, name) for name in ("files", "functions", "chunks")}
        show(row | ({"embedded": report.embedded, "warnings": list(report.warnings)} if done else {}))
        return
    what = f"{report.files} files, {report.functions} functions, {report.chunks} chunks"
    print(f"{report.subsystem}: Linux {report.version}, {what}{f' ({done})' if done else ''}")
