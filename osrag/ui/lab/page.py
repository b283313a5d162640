"""The lab tab as a whole: the lists, the two modes, the form beside its result, and practice."""

from html import escape
from typing import get_args

from osrag.lab.kind import Level
from osrag.types import Language
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


WORDS = ("compute", "practise", "modes", "copied", "example", "link", "level", "new", "not_yet")
