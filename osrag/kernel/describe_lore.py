"""What is written about kernel functions and files apart from the source, and shipped as data."""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from osrag.errors import BadInput
from osrag.glossary import Glossary, load_glossary
from osrag.text import sentences

DATA = Path(__file__).parent.parent / "data"
TERMS_PER_NAME = 4
_MENTION = re.compile(r"\b([A-Za-z_]\w+)\s*\(\)")

Pair = tuple[str, str]  # English, Chinese


@dataclass(frozen=True, slots=True)
class FileSummary:
    """Two to four sentences about a source file."""

    file: str
    en: str
    zh: str
    written: bool = True  # False: made from the code


@dataclass(frozen=True, slots=True)
class Lore:
    """Summaries, notes and glossary, by the names they speak of."""

    files: Mapping[str, FileSummary] = field(default_factory=dict)
    notes: Mapping[str, Pair] = field(default_factory=dict)  # function -> what it does
    mentions: Mapping[tuple[str, str], Pair] = field(default_factory=dict)  # (file, function)
    terms: Mapping[str, Pair] = field(default_factory=dict)  # identifier -> terms of the glossary


@functools.cache
def name_words() -> dict[str, Pair]:
    """Part of a name -> (English, Chinese): `rq` is a run queue, 运行队列."""
    return {word: (en, zh) for word, en, zh in read_tsv(DATA / "name_words.tsv")}


def read_tsv(path: Path) -> list[tuple[str, str, str]]:
    """Rows of three cells under a header."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], start=2):
        cells = line.split("\t")
        if len(cells) != 3:
            raise BadInput(f"{path.name} line {number}: expected three cells, got {len(cells)}")
        rows.append((cells[0], cells[1], cells[2]))
    return rows


def read_summaries(folder: Path = DATA / "file_summaries") -> dict[str, FileSummary]:
    """File summaries of all subsystems that have them."""
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                found[row["file"]] = FileSummary(row["file"], row["en"], row["zh"])
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(f"{path.name} line {number} is no file summary: {error}") from error
    return found


def load_lore() -> Lore:
    """All that is shipped with osrag."""
    notes = {name: (en, zh) for name, en, zh in read_tsv(DATA / "kernel_notes.tsv")}
    return gather_lore(read_summaries(), notes, load_glossary())


def gather_lore(files: Mapping[str, FileSummary], notes: Mapping[str, Pair], glossary: Glossary) -> Lore:
    """Index summaries, notes and glossary by the functions they name."""
    said: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for summary in files.values():
        for side, text in enumerate((summary.en, summary.zh)):
            for sentence in sentences(text):
                for name in dict.fromkeys(_MENTION.findall(sentence)):
                    said[summary.file, name][side].append(_clause(sentence, name))
    terms: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for term in glossary.terms:
        for ident in term.idents:
            terms[ident][0].append(term.en[0])
            terms[ident][1].append("、".join(term.zh[:2]))
    most = TERMS_PER_NAME
    return Lore(
        files,
        notes,
        {key: (" ".join(en), "".join(zh)) for key, (en, zh) in said.items()},
        {name: ("; ".join(en[:most]), "；".join(zh[:most])) for name, (en, zh) in terms.items()},
    )


def _clause(sentence: str, name: str) -> str:
    """The part of a long sentence that is about `name`."""
    if len(sentence) < 160:
        return sentence
    parts = re.split(r"(?<=[;；，])\s*|(?<=,)\s+(?=[a-z_]\w*\(\))", sentence)
    near = [part for part in parts if re.search(rf"\b{re.escape(name)}\s*\(\)", part)]
    return " ".join(near) or sentence
