"""ZIP archives of XML, as Word, PowerPoint and EPUB are: looked over before any reader opens one.

A small archive may unpack to terabytes, its XML may hold entities that grow without end, and it may name files of
other machines. So sizes are added up first, every part of XML goes through `defusedxml`, and the readers get a copy
that has no macros, no media and nothing that points outside.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from osrag.errors import BadDocument
from osrag.wording import Said

PackageKind = Literal["word", "slides", "epub"]
MOST_BYTES = 1 << 30  # of all parts, unpacked; a deck full of photographs has some hundred megabytes
MOST_XML_BYTES = 64 << 20  # of one part of XML; the text of a thick book has 10 MB
MOST_PARTS = 50_000
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # begins .doc, .ppt, and whatever Office encrypts
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_MAIN: Mapping[str, PackageKind] = {
    "wordprocessingml.document.main": "word",
    "wordprocessingml.template.main": "word",
    "ms-word.document.macroenabled": "word",
    "ms-word.template.macroenabled": "word",
    "presentationml.presentation.main": "slides",
    "presentationml.slideshow.main": "slides",
    "presentationml.template.main": "slides",
    "ms-powerpoint.presentation.macroenabled": "slides",
    "ms-powerpoint.slideshow.macroenabled": "slides",
}
_OTHERS = {
    "spreadsheetml": "doc_excel",
    "opendocument.text": "doc_odt",
    "opendocument.presentation": "doc_odp",
}
_EXTERNAL = re.compile(rb"""<(?:\w+:)?Relationship\b[^>]*TargetMode\s*=\s*["']External["'][^>]*>""")
_TARGET = re.compile(rb"""\bTarget\s*=\s*("[^"]*"|'[^']*')""")
_XML = (".xml", ".rels", ".opf", ".ncx")


@dataclass(frozen=True, slots=True)
class Package:
    """An archive that may be read."""

    kind: PackageKind
    warnings: tuple[str, ...] = ()  # what is in it and is not used: macros, links


def refuse_ole(path: Path, head: bytes) -> None:
    """Raises BadDocument for an Office file of before 2007, or one with a password, whatever its name says."""
    if not head.startswith(OLE):
        return
    with path.open("rb") as file:
        if ENCRYPTED in file.read(1 << 20):
            raise BadDocument(Said("doc_password", name=path.name), hint=Said("doc_do_password"), fault="password")
    raise BadDocument(Said("doc_old_office", name=path.name), hint=Said("doc_do_new_office"), fault="old_office")


def look_over(path: Path) -> Package:
    """What kind of package the archive is. Raises BadDocument where it is none, or not safe to open."""
    name = path.name
    with opened(path) as archive:
        infos = archive.infolist()
        size = sum(info.file_size for info in infos)
        if size > MOST_BYTES or len(infos) > MOST_PARTS:
            seen = {"mb": f"{size / 1e6:,.0f}", "parts": f"{len(infos):,}"}
            most = {"most_mb": f"{MOST_BYTES / 1e6:,.0f}", "most_parts": f"{MOST_PARTS:,}"}
            raise BadDocument(
                Said("doc_unpacks", name=name, **seen, **most), hint=Said("doc_do_lighter"), fault="large"
            )
        if any(info.flag_bits & 1 for info in infos):
            raise BadDocument(Said("doc_password", name=name), hint=Said("doc_do_password"), fault="password")
        kind = _kind(name, archive)
        outside = 0
        for info in infos:
            if info.filename.lower().endswith(_XML):
                data = part(archive, info.filename, name)
                _refuse_entities(data, name, info.filename, dtd=kind == "epub")
                if info.filename.endswith(".rels"):
                    outside += sum(b"/hyperlink" not in relation for relation in _EXTERNAL.findall(data))
        macros = any(info.filename.lower().endswith("vbaproject.bin") for info in infos)
    said = (Said("remark_macros"),) if macros else ()
    links = (Said("remark_links", count=outside),) if outside else ()
    return Package(kind, (*said, *links))


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive. Raises BadDocument where it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise BadDocument(
            Said("doc_archive_damaged", name=path.name, why=str(error)), hint=Said("doc_do_again"), fault="damaged"
        ) from error


def part(archive: zipfile.ZipFile, inside: str, name: str) -> bytes:
    """One part of XML, unpacked. Raises BadDocument where it is too large, whatever the archive says of its size."""
    with archive.open(inside) as file:
        data = file.read(MOST_XML_BYTES + 1)
    if len(data) > MOST_XML_BYTES:
        swollen = Said("doc_part_large", name=name, part=inside, most=f"{MOST_XML_BYTES / 1e6:.0f}")
        raise BadDocument(swollen, hint=Said("doc_do_split"), fault="large")
    return data


def cleaned(
    path: Path, change: Callable[[str, bytes], bytes] = lambda _, data: data, *, media: bool = False
) -> io.BytesIO:
    """A copy without macros and links to outside, each part of XML as `change(name, data)` returns it.

    Pictures are in it only with `media`: a reader of words has no need of them.
    """
    out = io.BytesIO()
    with opened(path) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
        for info in archive.infolist():
            if info.filename.lower().endswith(_XML):
                data = part(archive, info.filename, path.name)
                if info.filename.endswith(".rels"):
                    data = _EXTERNAL.sub(lambda match: _TARGET.sub(b'Target="about:blank"', match[0]), data)
                copy.writestr(info.filename, change(info.filename, data))
            elif media and "/media/" in info.filename:
                copy.writestr(info.filename, archive.read(info))
    out.seek(0)
    return out


def xml(data: bytes, name: str) -> Any:
    """The root element of a part that `look_over` has passed. Raises BadDocument where it is not well formed."""
    from lxml import etree

    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        raise BadDocument(
            Said("doc_part_damaged", name=name, part="XML", why=str(error)), hint=Said("doc_do_again"), fault="damaged"
        ) from error


def _kind(name: str, archive: zipfile.ZipFile) -> PackageKind:
    """By its own table of contents, not by its name."""
    inside = set(archive.namelist())
    said = ""
    for member in ("[Content_Types].xml", "mimetype"):
        if member in inside:
            said += part(archive, member, name).decode("utf-8", "replace").lower()
    if "application/epub+zip" in said:
        return "epub"
    for mark, kind in _MAIN.items():
        if mark in said:
            return kind
    for mark, what in _OTHERS.items():
        if mark in said:
            raise BadDocument(Said(what, name=name), hint=Said("doc_do_convert"), fault="kind")
    raise BadDocument(Said("doc_zip", name=name), hint=Said("doc_do_unpack"), fault="kind")


def _refuse_entities(data: bytes, name: str, inside: str, *, dtd: bool) -> None:
    """Raises BadDocument for XML that declares entities or, unless `dtd`, any document type."""
    from xml.sax import ContentHandler, SAXParseException

    from defusedxml import DefusedXmlException
    from defusedxml.sax import parseString

    try:
        parseString(data, ContentHandler(), forbid_dtd=not dtd)
    except DefusedXmlException:
        raise BadDocument(Said("doc_entities", name=name, part=inside), hint=Said("doc_do_again")) from None
    except SAXParseException as error:
        damaged = Said("doc_part_damaged", name=name, part=inside, why=error.getMessage())
        raise BadDocument(damaged, hint=Said("doc_do_again"), fault="damaged") from None
