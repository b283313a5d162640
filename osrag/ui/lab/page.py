"""The lab tab as a whole: the lists, the two modes, the form beside its result, and practice."""

from collections.abc import Sequence
from html import escape
from typing import get_args

from osrag.lab.kind import Level
from osrag.lab.reading import Reading
from osrag.lab.solve import label, shown
from osrag.text import clip
from osrag.types import Language
from osrag.ui.lab.form import option_name, title
from osrag.wording import say


def page(picker: str, form: str, notice: str, language: Language) -> str:
    """HTML of the tab; the script fills in the result, the voices and the exercise."""
    words = {key: escape(say(f"lab_{key}", language), quote=True) for key in WORDS}
    modes = "".join(
        f'<button type="button" role="tab" data-mode="{mode}" aria-selected="{str(mode == "compute").lower()}">'
        f"{words[mode]}</button>"
        for mode in ("compute", "practise")
    )
    levels = "".join(
        f'<option value="{level}">{escape(say(f"quiz_level_{level}", language))}</option>' for level in get_args(Level)
    )
    told = f'<p class="lb-fault">{escape(notice)}</p>' if notice else ""
    return (
        f'<div class="lb-top"><div class="lb-pick">{picker}</div>'
        f'<div class="lb-modes" role="tablist" aria-label="{words["modes"]}">{modes}</div></div>{told}'
        f'<details class="lb-paste lb-fold"><summary>{words["paste"]}</summary><div><div class="lb-field is-wide">'
        f'<textarea rows="4" spellcheck="false" aria-label="{words["paste"]}" placeholder="{words["paste_hint"]}">'
        f'</textarea></div><button type="button" class="lb-button" data-act="read">{words["read"]}</button>'
        '<div class="lb-readings" aria-live="polite"></div></div></details>'
        f'<div class="lb-compute"><div class="lb-given">{form}<div class="lb-buttons" data-done="{words["copied"]}">'
        f'<button type="button" class="lb-button" data-act="example">{words["example"]}</button>'
        f'<button type="button" class="lb-button" data-act="link">{words["link"]}</button></div></div>'
        f'<div class="lb-out"><div class="lb-result"><p class="lb-note">{words["not_yet"]}</p></div>'
        '<div class="lb-voices"></div></div></div>'
        f'<div class="lb-practice" hidden><div class="lb-pick"><label class="lb-field"><span>{words["level"]}</span>'
        f'<select class="lb-level">{levels}</select></label>'
        f'<button type="button" class="lb-button lb-main" data-act="new">{words["new"]}</button></div>'
        '<div class="lb-exercise"></div></div>'
    )


def readings_html(readings: Sequence[Reading], language: Language) -> str:
    """What a text was read as, for the visitor to check; several readings are offered, the first is in the form."""
    if not readings:
        return f'<p class="lb-note">{escape(say("lab_read_as_none", language))}</p>'
    head = escape(say("lab_read_as", language) if len(readings) == 1 else say("lab_read_as_several", language))
    offered = "".join(
        f'<button type="button" class="lb-button" data-reading="{place}" aria-pressed="{str(not place).lower()}">'
        f"{escape(clip(_told(one, language), MOST_TOLD))}</button>"
        for place, one in enumerate(readings)
    )
    unused = ", ".join(readings[0].unused)
    left = f'<p class="lb-note">{escape(say("lab_unused", language, numbers=unused))}</p>' if unused else ""
    return f'<p class="lb-note">{head}</p>{offered}{left}'


def _told(reading: Reading, language: Language) -> str:
    """A reading in a line: the exercise, what it asks for, and its values."""
    ask = reading.values.get("ask", "")
    parts = [title(reading.kind, language), *([option_name("ask", ask, language)] if ask else [])]
    colon = "：" if language == "zh" else ": "
    for name, value in reading.values.items():
        if name != "ask":
            parts.append(f"{label(name, language)}{colon}{shown(value, '', language)}")
    return " · ".join(parts)


MOST_TOLD = 220  # characters of a reading on its button
WORDS = (
    "compute",
    "practise",
    "modes",
    "copied",
    "example",
    "link",
    "level",
    "new",
    "not_yet",
    "paste",
    "paste_hint",
    "read",
)
