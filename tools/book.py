"""Set the course book: `python tools/book.py build [--lang zh|en] [--chapter N|A ...] [--out DIR]`.

Reads `examples/textbook/src/`, writes `examples/textbook/os-course-<lang>.pdf`. The same sources
give the same bytes: the date is fixed in `lib.typ` and fonts of the system are not looked at.
"""

import argparse
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent / "examples" / "textbook"
LANGUAGES = ("zh", "en")
MAX_BYTES = 2_000_000
NOTO = Path("/usr/share/fonts/opentype/noto")  # where Debian's fonts-noto-cjk puts its files
FONTS = (
    "Libertinus Serif",
    "DejaVu Sans Mono",
    "Noto Serif CJK SC",
    "Noto Sans CJK SC",
    "Noto Sans Mono CJK SC",
)
LOST_SEMICOLON = re.compile(r"#[a-z]+(\([^()]*\)|\[[^\[\]]*\])+;")
BROKEN_PARAGRAPH = re.compile(r"[\u4e00-\u9fff，、；：]\n[\u4e00-\u9fff]")
SOURCE_FILE = re.compile(r"(\d\d|appendix-[a-z])-[a-z-]+\.typ")


class BookError(Exception):
    """The book could not be set; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One language of the book and the chapters and appendices to set."""

    language: str
    sources: tuple[str, ...]  # file stems in order: "01-introduction", "appendix-a-linux-map"

    @property
    def file_name(self) -> str:
        return f"os-course-{self.language}.pdf"


def find_edition(language: str, only: Sequence[str] = ()) -> Edition:
    """The chapters, then the appendices that exist in `language`; or those that `only` names ("03", "appendix-a")."""
    stems = []
    for path in sorted((HOME / "src" / language).glob("*.typ")):
        match = SOURCE_FILE.fullmatch(path.name)
        if match is None:
            raise BookError(f"{path}: a source is named like 03-cpu-scheduling.typ or appendix-a-linux-map.typ")
        if not only or match[1] in only:
            sys.stderr.writelines(f"book: {slip}\n" for slip in slips(path))
            stems.append(path.stem)
    if not stems:
        raise BookError(f"no chapter to set in {HOME / 'src' / language}")
    return Edition(language, tuple(stems))


def source_number(text: str) -> str:
    """A chapter as its file is numbered: `3` is "03", `A` is "appendix-a"."""
    if text.isdecimal():
        return f"{int(text):02}"
    if re.fullmatch("[A-Za-z]", text):
        return f"appendix-{text.lower()}"
    raise argparse.ArgumentTypeError(f"neither the number of a chapter nor the letter of an appendix: {text!r}")


def slips(path: Path) -> list[str]:
    """What Typst sets without a word although no writer means it."""
    text = re.sub(r"```.*?```", lambda raw: "\n" * raw[0].count("\n"), path.read_text("utf-8"), flags=re.S)
    return [
        f"{path}:{text.count(chr(10), 0, slip.start()) + 1}: {advice}: {slip[0]!r}"
        for pattern, advice in (
            (LOST_SEMICOLON, "Typst swallows this semicolon, write \\;"),
            (BROKEN_PARAGRAPH, "the line end becomes a blank in Chinese, write the paragraph on one line"),
        )
        for slip in pattern.finditer(text)
    ]


def set_pdf(edition: Edition, fonts: Path = NOTO) -> bytes:
    """The PDF of `edition`."""
    try:
        import typst
    except ImportError as error:
        raise BookError("Typst is missing: pip install -r requirements-dev.txt") from error
    found = set(typst.Fonts(include_system_fonts=False, font_paths=[str(fonts)]).families())
    if missing := [name for name in FONTS if name not in found]:
        raise BookError(
            f"no font {', '.join(missing)} in {fonts}: apt install fonts-noto-cjk, or name the folder with --fonts"
        )
    source = HOME / "src" / f"{edition.language}.typ"
    try:
        pdf = typst.compile(
            str(source),
            root=str(HOME / "src"),
            font_paths=[str(fonts)],
            ignore_system_fonts=True,
            sys_inputs={"sources": ",".join(edition.sources)},
            timestamp=0,  # the date of the document itself is set in lib.typ
        )
    except typst.TypstError as error:
        raise BookError(f"{source.name}: {error}\n{error.diagnostic}") from error
    assert isinstance(pdf, bytes)  # a list only for images
    return pdf


def shrink(pdf: bytes) -> bytes:
    """The same document with its objects in compressed streams.

    Typst writes each of the thousands of structure tags (they tell a screen reader what is a heading
    or a table) as an object of its own, a third of the file.
    """
    try:
        import pikepdf
    except ImportError as error:
        raise BookError("pikepdf is missing: pip install -r requirements-dev.txt") from error
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as document:
        document.save(out, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
    return out.getvalue()


def build(languages: Sequence[str], only: Sequence[str], out: Path, fonts: Path) -> None:
    """Write the PDF of every language into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    for language in languages:
        edition = find_edition(language, only)
        pdf = shrink(set_pdf(edition, fonts))
        if len(pdf) > MAX_BYTES:
            raise BookError(f"{edition.file_name} has {len(pdf):,} bytes, more than {MAX_BYTES:,}")
        target = out / edition.file_name
        target.write_bytes(pdf)
        sys.stdout.write(f"{target}: {len(pdf):,} bytes from {len(edition.sources)} sources\n")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Set the course book with Typst.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="write os-course-zh.pdf and os-course-en.pdf")
    command.add_argument("--lang", choices=LANGUAGES, help="only this edition")
    command.add_argument(
        "--chapter",
        type=source_number,
        action="append",
        default=[],
        metavar="N|A",
        help="only this chapter or appendix (a draft)",
    )
    command.add_argument("--out", type=Path, help="folder of the PDF; a draft of single chapters needs one")
    command.add_argument("--fonts", type=Path, default=NOTO, help=f"folder of the Noto CJK fonts ({NOTO})")
    options = parser.parse_args(arguments)
    if options.chapter and options.out is None:
        parser.error("--chapter needs --out: a draft must not replace the book")
    return options


def main() -> int:
    options = parse()
    languages = (options.lang,) if options.lang else LANGUAGES
    try:
        build(languages, options.chapter, options.out or HOME, options.fonts)
    except BookError as error:
        sys.stderr.write(f"book: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
