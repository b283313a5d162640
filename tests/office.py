"""Word, PowerPoint and EPUB files made on the spot as the archives of XML that they are, good and bad."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "application/vnd.openxmlformats-officedocument."
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def archive(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def types_of(*overrides: tuple[str, str]) -> str:
    defaults = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
    )
    own = "".join(f'<Override PartName="{part}" ContentType="{TYPES}{kind}"/>' for part, kind in overrides)
    return f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{defaults}{own}</Types>'


def relations(*targets: tuple[str, str]) -> str:
    """`(kind, target)`; a target of the web is external."""
    modes = {True: ' TargetMode="External"', False: ""}
    rows = "".join(
        f'<Relationship Id="rId{number}" Type="{R}/{kind}" Target="{escape(target)}"{modes["://" in target]}/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{RELATIONS}">{rows}</Relationships>'


def paragraph(text: str, style: str = "", *, level: int = 0, font: str = "") -> str:
    """A paragraph of Word; `level` is that of its outline."""
    inside = (f'<w:pStyle w:val="{style}"/>' if style else "") + (
        f'<w:outlineLvl w:val="{level - 1}"/>' if level else ""
    )
    face = f'<w:rPr><w:rFonts w:ascii="{font}"/></w:rPr>' if font else ""
    run = f'<w:r>{face}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'
    return f"<w:p><w:pPr>{inside}</w:pPr>{run}</w:p>"


def word_table(rows: Sequence[Sequence[str]]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def make_word(path: Path, *body: str, extra: Mapping[str, str | bytes] | None = None, styles: str = "") -> Path:
    own = styles or (
        '<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/>'
        '<w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="2"><w:name w:val="heading 2"/>'
        '<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    )
    parts = {
        "[Content_Types].xml": types_of(("/word/document.xml", "wordprocessingml.document.main+xml")),
        "_rels/.rels": relations(("officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": relations(("styles", "styles.xml")),
        "word/styles.xml": f'<w:styles xmlns:w="{W}">{own}</w:styles>',
        "word/document.xml": (
            f'<w:document xmlns:w="{W}" xmlns:m="{M}" xmlns:r="{R}"><w:body>{"".join(body)}</w:body></w:document>'
        ),
    }
    return archive(path, {**parts, **(extra or {})})


def make_slides(path: Path, slides: Sequence[Sequence[tuple[float, float, str]]], notes: str = "") -> Path:
    """Slides of text frames `(left, top, text)` in shares of the slide; the first frame of each is its title."""
    import pptx
    from pptx.util import Emu

    deck = pptx.Presentation()
    wide, high = int(deck.slide_width or 0), int(deck.slide_height or 0)
    for frames in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        assert slide.shapes.title is not None
        slide.shapes.title.text = frames[0][2]
        for left, top, text in frames[1:]:
            place = (Emu(int(left * wide)), Emu(int(top * high)), Emu(int(0.4 * wide)), Emu(int(0.1 * high)))
            slide.shapes.add_textbox(*place).text_frame.text = text
        if notes and slide.notes_slide.notes_text_frame is not None:
            slide.notes_slide.notes_text_frame.text = notes
    deck.save(str(path))
    return path


def make_epub(path: Path, *chapters: str) -> Path:
    items = "".join(
        f'<item id="c{number}" href="c{number}.xhtml" media-type="application/xhtml+xml"/>'
        for number in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>Small Systems</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    pages = {f"OEBPS/c{number}.xhtml": text for number, text in enumerate(chapters)}
    return archive(
        path,
        {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": opf, **pages},
    )
