"""`build kernel`, `search kernel`, `eval kernel`: source to index, questions to functions, figures."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from osrag.cli.console import ProgressBar, add_search_options, questions, show
from osrag.errors import BadInput, ModelNotFound
from osrag.settings import Settings

if TYPE_CHECKING:
    from osrag.app.parts import Parts
    from osrag.kernel.build import SubsystemReport
    from osrag.kernel.result import KernelResult
    from osrag.models.protocols import ChatModel

MOST_WARNINGS = 20  # shown of one subsystem; drivers/ has thousands of files


def add_build(kinds: Any) -> None:
    build = kinds.add_parser("kernel", help="functions and files of a Linux source, by subsystem")
    build.add_argument("--source", type=Path, metavar="ARCHIVE|DIR", help="linux-source-6.1.tar.xz or a source tree")
    build.add_argument(
        "--subsystem", action="append", default=[], metavar="NAME", help="kernel, mm, fs, net/ipv4; may be repeated"
    )
    build.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of all collections")
    build.add_argument("--describe", choices=("code", "llm"), default="code", help="llm: the chat model writes too")
    build.add_argument("--remove", action="append", default=[], metavar="NAME", help="drop this subsystem")
    build.add_argument("--list", action="store_true", help="show the subsystems and stop")
    build.add_argument("--fresh", action="store_true", help="write the collections again, whatever lies in DIR")
    build.add_argument("--json", action="store_true", help="the result as JSON")
    build.set_defaults(run=build_kernel)


def add_search(sources: Any) -> None:
    search = sources.add_parser("kernel", help="functions with file and lines")
    add_search_options(search, k=10)
    search.set_defaults(run=search_kernel)


def add_eval(sources: Any) -> None:
    command = sources.add_parser("kernel", help="function@k, file@k and MRR for questions with gold_functions")
    command.add_argument("file", type=Path, metavar="FILE.jsonl")
    command.add_argument("--index", type=Path, help="folder of the index")
    command.add_argument("--k", type=int, default=10)
    command.add_argument("--effort", choices=("fast", "deep"), default="fast")
    command.add_argument("--show-misses", action="store_true", help="print what was found instead")
    command.set_defaults(run=eval_kernel)


# -- build


def build_kernel(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.kernel import build as kernel_build

    if args.list:
        for entry in kernel_build.list_subsystems(args.out):
            _tell(entry, "", as_json=args.json)
        return 0
    for name in args.remove:
        kernel_build.remove_subsystem(args.out, name)
        print(f"removed: {name}", file=sys.stderr)
    if not args.subsystem and args.remove:
        return 0
    if not args.subsystem or args.source is None:
        raise BadInput(
            "`build kernel` needs --source and at least one --subsystem",
            hint="for example --source linux-source-6.1.tar.xz --subsystem kernel --subsystem mm",
        )
    reports = _build(args, settings)
    for report in reports:
        _warn(report)
        _tell(report, "built" if report.embedded else "unchanged", as_json=args.json)
    return 0


def _build(args: argparse.Namespace, settings: Settings) -> "tuple[SubsystemReport, ...]":
    from osrag.app.parts import Parts
    from osrag.kernel import build as kernel_build

    with ProgressBar() as progress:
        tree = kernel_build.read_source(args.source, args.subsystem, progress)  # before any weights are fetched
        parts = Parts(settings, progress=progress)
        return kernel_build.build_tree(
            args.out,
            tree,
            args.subsystem,
            parts.encoder,
            cache=settings.cache_dir / "embeddings.sqlite",
            progress=progress,
            chat=_writer(parts) if args.describe == "llm" else None,
            fresh=args.fresh,
        )


def _writer(parts: "Parts") -> "ChatModel":
    chat = parts.chat
    if chat is None:
        raise ModelNotFound("--describe llm needs a chat model", hint="OSRAG_PROFILE=retrieval has none")
    return chat


def _warn(report: "SubsystemReport") -> None:
    for warning in report.warnings[:MOST_WARNINGS]:
        print(f"osrag: {warning}", file=sys.stderr)
    if len(report.warnings) > MOST_WARNINGS:
        print(f"osrag: and {len(report.warnings) - MOST_WARNINGS} more files with a note", file=sys.stderr)


def _tell(report: "SubsystemReport", done: str, *, as_json: bool) -> None:
    if as_json:
        show(
            {
                "subsystem": report.subsystem,
                "kernel_version": report.version,
                "files": report.files,
                "functions": report.functions,
                "chunks": report.chunks,
                **({"embedded": report.embedded, "warnings": list(report.warnings)} if done else {}),
            }
        )
        return
    what = f"{report.files} files, {report.functions} functions, {report.chunks} chunks"
    print(f"{report.subsystem}: Linux {report.version}, {what}{f' ({done})' if done else ''}")


# -- search


def search_kernel(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.app.parts import Parts
    from osrag.kernel.rounds import find_code

    parts = Parts(settings, progress=ProgressBar())
    search = parts.open_kernel(args.index) if args.index else parts.kernel
    chat = parts.chat if args.effort == "deep" else None
    for question in questions(args.batch, args.question):
        result = find_code(search, question, k=args.k, chat=chat)
        if args.json:
            show(result.to_dict())
        else:
            _print(result)
    return 0


def _print(result: "KernelResult") -> None:
    from osrag.text import clip

    print(f"{result.query}  (Linux {result.version}, {result.timings_ms['total']:.0f} ms)")
    for place, hit in enumerate(result.hits, start=1):
        chunk = hit.chunk
        print(f"{place:2}. {hit.score:6.3f}  {chunk.name}  {chunk.source}:{chunk.where.first}-{chunk.where.last}")
        print(f"    {clip(' '.join(chunk.description.split()), 160)}")
    for note in result.notes:
        print(f"    {note}")


# -- eval


def eval_kernel(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.app.parts import Parts
    from osrag.evaluate.kernel import evaluate, read_questions

    rows = read_questions(args.file)
    parts = Parts(settings, progress=ProgressBar())
    search = parts.open_kernel(args.index) if args.index else parts.kernel
    report = evaluate(search, rows, k=args.k, chat=parts.chat if args.effort == "deep" else None)
    if args.show_misses:
        for miss in report.misses:
            show(miss)
    show(report.figures)
    return 0
