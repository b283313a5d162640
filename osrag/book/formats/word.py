"""Word files through mammoth: headings as the path, lists, tables, listings; equations as a line of text.

mammoth knows a heading by the name of its style and drops equations. So the text is prepared for it: a paragraph
with an outline level gets the heading of that level, and an equation becomes words.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from osrag.book.document import Document
from osrag.book.formats.html import blocks_of_html, document_of, parsed
from osrag.book.formats.package import cleaned, look_over, opened, part, xml
from osrag.book.pdf.page import is_mono
from osrag.errors import BadDocument
from osrag.types import Language
from osrag.wording import Said

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
CODE = "Source Code"
# `!` leaves a paragraph out: a table of contents names every topic and explains none.
STYLES = "\n".join(
    [
        *(f"p[style-name='{name}'] => pre:separator('\\n')" for name in (CODE, "HTML Preformatted", "macro")),
        *(f"p[style-name='{name}'] => pre:separator('\\n')" for name in ("Preformatted Text", "Code", "代码")),
        *(f"p[style-name='{name} {level}'] => !" for name in ("toc", "TOC", "Contents") for level in range(1, 7)),
        "p[style-name='Title'] => h1.title:fresh",
        "p[style-name='List Bullet'] => ul > li:fresh",
        "p[style-name='List Number'] => ol > li:fresh",
    ]
)


def read_word(path: Path, *, language: Language | None = None) -> Document:
    """Read a .docx. Raises BadDocument where it is none, or cannot be read safely."""
    import mammoth

    package = look_over(path)
    with opened(path) as archive:
        has_styles = "word/styles.xml" in archive.namelist()
        styles = part(archive, "word/styles.xml", path.name) if has_styles else b""
    levels = outline_levels(xml(styles, path.name)) if styles else {}
    equations: list[str] = []
    ready = cleaned(path, partial(_prepared, path.name, levels, equations))
    try:
        html = mammoth.convert_to_html(
            ready,
            style_map=STYLES,
            include_embedded_style_map=False,
            transform_document=mammoth.transforms.paragraph(_listing),
            convert_image=mammoth.images.img_element(lambda _: {}),
            external_file_access=False,
        ).value
    except (KeyError, AttributeError, ValueError, IndexError) as error:
        damaged = Said("doc_word_damaged", name=path.name, why=type(error).__name__)
        raise BadDocument(damaged, hint=Said("doc_do_again"), fault="damaged") from error
    root = parsed(html)
    titles = [one for one in root.iter("h1") if one.get("class") == "title"]
    title = " ".join(titles[0].text_content().split()) if titles else ""
    for one in titles:
        one.drop_tree()
    for one in list(root.iter("a")):
        if one.text == "↑":  # the way back from a footnote
            one.drop_tree()
    count = len(equations)
    kept = (Said("remark_equations", count=count),) if count else ()
    warnings = (*package.warnings, *kept)
    return document_of(path.name, "word", tuple(blocks_of_html(root)), title, language, warnings)


def _prepared(name: str, levels: Mapping[str, int], equations: list[str], inside: str, data: bytes) -> bytes:
    """A part as mammoth shall read it. The text of each equation is added to `equations`."""
    from lxml import etree

    if not inside.startswith("word/") or inside.count("/") != 1 or (b"oMath" not in data and inside[5:8] != "doc"):
        return data
    root = xml(data, name)
    for one in list(root.iter(f"{M}oMath")):
        text = linear(one)
        equations.append(text)
        run = etree.Element(f"{W}r")
        words = etree.SubElement(run, f"{W}t")
        words.text = f" {text} "
        words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
        run.tail = one.tail
        one.getparent().replace(one, run)
    for one in list(root.iter(f"{M}oMathPara")):  # runs inside it are read only in a paragraph of their own
        parent, at = one.getparent(), one.getparent().index(one)
        runs = [run for run in one if run.tag == f"{W}r"]
        parent.remove(one)
        if parent.tag != f"{W}p":
            paragraph = etree.Element(f"{W}p")
            paragraph.extend(runs)
            runs = [paragraph]
        for run in reversed(runs):
            parent.insert(at, run)
    for properties in root.iter(f"{W}pPr"):
        style, own = properties.find(f"{W}pStyle"), properties.find(f"{W}outlineLvl")
        named = style.get(f"{W}val") if style is not None else None
        level = levels.get(named or "", int(own.get(f"{W}val", "9")) + 1 if own is not None else 0)
        if 1 <= level <= 6:
            if style is None:
                style = etree.Element(f"{W}pStyle")
                properties.insert(0, style)
            style.set(f"{W}val", f"Heading{level}")
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def outline_levels(styles: Any) -> dict[str, int]:
    """The styles that are headings, by their id, with their level; a style inherits that of the one it is based on."""
    own: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in styles.iter(f"{W}style"):
        id_, name = style.get(f"{W}styleId", ""), style.find(f"{W}name")
        level, above = style.find(f"{W}pPr/{W}outlineLvl"), style.find(f"{W}basedOn")
        if level is not None:
            own[id_] = int(level.get(f"{W}val", "9")) + 1
        elif name is not None and name.get(f"{W}val", "") in ("Title", "Subtitle", "TOC Heading"):
            own[id_] = 0
        if above is not None:
            based[id_] = above.get(f"{W}val", "")
    found: dict[str, int] = {}
    for id_ in {*own, *based}:
        at, seen = id_, {id_}
        while at not in own and at in based and based[at] not in seen:
            at = based[at]
            seen.add(at)
        found[id_] = own.get(at, 0)
    return {id_: level for id_, level in found.items() if 1 <= level <= 6}


def _listing(paragraph: Any) -> Any:
    """A paragraph that is set in a typewriter face is a line of code, whatever its style."""
    runs = [run for run in paragraph.children if getattr(run, "children", None)]
    if runs and all(is_mono(getattr(run, "font", None) or "") for run in runs):
        return paragraph.copy(style_name=CODE, style_id=None, numbering=None)
    return paragraph


def linear(node: Any) -> str:
    """An equation of Office in one line: `(a+b)/(c)`, `x_(i)^(2)`, `√(n)`."""
    tag = node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
    if tag == "t":
        return str(node.text or "")
    inner = {one.tag.rpartition("}")[2]: one for one in node if isinstance(one.tag, str)}

    def of(name: str) -> str:
        return linear(inner[name]) if name in inner else ""

    def grouped(name: str, sign: str = "") -> str:
        text = of(name).strip()
        return f"{sign}({text})" if len(text) > 1 else f"{sign}{text}" if text else ""

    match tag:
        case "f":
            return f"{grouped('num')}/{grouped('den')}"
        case "sSup" | "sSub" | "sSubSup":
            return of("e") + grouped("sub", "_") + grouped("sup", "^")
        case "rad":
            return f"{of('deg')}√({of('e')})"
        case "nary":
            sign = node.find(f"{M}naryPr/{M}chr")
            symbol = "∫" if sign is None else sign.get(f"{M}val", "")
            return f"{symbol}{grouped('sub', '_')}{grouped('sup', '^')} {of('e')}"
        case "d":
            signs = (node.find(f"{M}dPr/{M}{name}") for name in ("begChr", "endChr"))
            left, right = ("()"[at] if one is None else one.get(f"{M}val", "") for at, one in enumerate(signs))
            return f"{left}{', '.join(linear(one) for one in node.findall(f'{M}e'))}{right}"
        case "m":
            rows = [", ".join(linear(cell) for cell in row.findall(f"{M}e")) for row in node.findall(f"{M}mr")]
            return f"[{'; '.join(rows)}]"
    return "".join(linear(one) for one in node if isinstance(one.tag, str))
