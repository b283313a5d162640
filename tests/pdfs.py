"""PDFs made on the spot, good and bad, without a PDF library.

    make_pdf(path, [[text(72, 80, "Hello")], [text(72, 80, "Second page")]])

Coordinates are points from the top left corner of a page of 400 x 600.
"""

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WIDTH, HEIGHT = 400, 600
FONTS = {
    "sans": "/Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding",
    "bold": "/Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding",
    "mono": "/Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding",
    "song": (
        "/Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts ["
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> >>]"
    ),
}


@dataclass(frozen=True)
class Mark:
    """One drawing operation of a page."""

    code: bytes


@dataclass(frozen=True)
class Bookmark:
    title: str
    page: int  # 1-based
    level: int = 1


def text(x: float, y: float, words: str, *, size: float = 10, font: str = "sans") -> Mark:
    """`words` with the baseline `y` points below the top edge."""
    encoded = f"<{words.encode('utf-16-be').hex()}>" if font == "song" else f"({_escaped(words)})"
    return Mark(f"BT /{font} {size} Tf 1 0 0 1 {x} {HEIGHT - y} Tm {encoded} Tj ET".encode("cp1252"))


def rule(x0: float, y0: float, x1: float, y1: float) -> Mark:
    return Mark(f"{x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S".encode())


def box(x0: float, y0: float, x1: float, y1: float) -> Mark:
    return Mark(f"{x0} {HEIGHT - y1} {x1 - x0} {y1 - y0} re S".encode())


def picture() -> Mark:
    """A grey square over most of the page, as a scan is a picture."""
    return Mark(b"q 300 0 0 400 50 100 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q")


def lines(
    x: float, y: float, words: Sequence[str], *, step: float = 13, size: float = 10, font: str = "sans"
) -> list[Mark]:
    """Lines of type under each other."""
    return [text(x, y + at * step, line, size=size, font=font) for at, line in enumerate(words)]


def _escaped(words: str) -> str:
    return words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def make_pdf(
    path: Path,
    pages: Sequence[Sequence[Mark]],
    *,
    outline: Sequence[Bookmark] = (),
    labels: str = "",  # content of /Nums, e.g. "0 << /S /r >> 2 << /S /D >>"
    title: str = "",
    encrypted: bool = False,
) -> Path:
    """Write a PDF of `pages`, each a list of marks."""
    path.write_bytes(pdf_bytes(pages, outline=outline, labels=labels, title=title, encrypted=encrypted))
    return path


def pdf_bytes(
    pages: Sequence[Sequence[Mark]],
    *,
    outline: Sequence[Bookmark] = (),
    labels: str = "",
    title: str = "",
    encrypted: bool = False,
) -> bytes:
    fonts = {name: 10 + at for at, name in enumerate(FONTS)}
    first = 10 + len(FONTS)
    objects: dict[int, bytes] = {number: f"<< {FONTS[name]} >>".encode() for name, number in fonts.items()}
    resources = " ".join(f"/{name} {number} 0 R" for name, number in fonts.items())
    kids = []
    for at, marks in enumerate(pages):
        page, stream = first + 2 * at, first + 2 * at + 1
        kids.append(f"{page} 0 R")
        packed = zlib.compress(b"\n".join(mark.code for mark in marks))
        objects[stream] = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)
        objects[page] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {stream} 0 R "
            f"/Resources << /Font << {resources} >> >> >>"
        ).encode()
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    extra = f" /PageLabels << /Nums [{labels}] >>" if labels else ""
    if outline:
        objects.update(_outline(outline, first, first + 2 * len(pages)))
        extra += f" /Outlines {first + 2 * len(pages)} 0 R"
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R{extra} >>".encode()
    objects[3] = f"<< /Title ({_escaped(title)}) >>".encode()
    trailer = "/Root 1 0 R /Info 3 0 R"
    if encrypted:  # keys of a password that nobody knows
        objects[4] = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'5a' * 32}> /U <{'a5' * 32}> >>".encode()
        trailer += f" /Encrypt 4 0 R /ID [<{'00' * 16}> <{'00' * 16}>]"
    return _assembled(objects, trailer)


def _outline(outline: Sequence[Bookmark], first_page: int, root: int) -> dict[int, bytes]:
    """Two levels at most: bookmarks of level 2 hang under the one of level 1 before them."""
    numbers = {at: root + 1 + at for at in range(len(outline))}
    parents = {}
    top = root
    for at, mark in enumerate(outline):
        parents[at] = root if mark.level == 1 else top
        top = numbers[at] if mark.level == 1 else top
    objects = {}
    for at, mark in enumerate(outline):
        same = [other for other in numbers if parents[other] == parents[at]]
        place = same.index(at)
        children = [numbers[other] for other in numbers if parents[other] == numbers[at]]
        links = f"/Parent {parents[at]} 0 R"
        links += f" /Prev {numbers[same[place - 1]]} 0 R" if place else ""
        links += f" /Next {numbers[same[place + 1]]} 0 R" if place + 1 < len(same) else ""
        links += f" /First {children[0]} 0 R /Last {children[-1]} 0 R /Count {len(children)}" if children else ""
        title = ("\ufeff" + mark.title).encode("utf-16-be").hex()
        objects[numbers[at]] = (
            f"<< /Title <{title}> {links} /Dest [{first_page + 2 * (mark.page - 1)} 0 R /Fit] >>".encode()
        )
    tops = [numbers[at] for at in numbers if parents[at] == root]
    objects[root] = f"<< /Type /Outlines /First {tops[0]} 0 R /Last {tops[-1]} 0 R /Count {len(tops)} >>".encode()
    return objects


def _assembled(objects: dict[int, bytes], trailer: str) -> bytes:
    out = b"%PDF-1.5\n"
    offsets = {}
    for number in sorted(objects):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number in sorted(objects):
        out += b"%d 1\n%010d 00000 n \n" % (number, offsets[number])
    out += f"trailer << /Size {max(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return out


# ---------------------------------------------------------------- files that cannot be read


def encrypted(path: Path) -> Path:
    return make_pdf(path, [[text(72, 80, "secret")]], encrypted=True)


def truncated(path: Path) -> Path:
    """A download that broke off."""
    whole = pdf_bytes([lines(72, 80, ["words"] * 30)] * 5)
    path.write_bytes(whole[: len(whole) * 2 // 3])
    return path


def without_pages(path: Path) -> Path:
    return make_pdf(path, [])


def scanned(path: Path, pages: int = 3) -> Path:
    return make_pdf(path, [[picture()]] * pages)


def renamed_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<w:document/>")
    return path


def empty(path: Path) -> Path:
    path.write_bytes(b"")
    return path


def web_page(path: Path) -> Path:
    """What a download often is that needed a login."""
    path.write_text("<!DOCTYPE html><html><body>Please log in</body></html>")
    return path


def garbage(path: Path) -> Path:
    """Both ends are there, nothing between them."""
    path.write_bytes(b"%PDF-1.5\n" + bytes(range(256)) * 40 + b"\nstartxref\n9\n%%EOF\n")
    return path
