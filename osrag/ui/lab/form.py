"""The form of a kind of exercise as HTML: one control for each parameter, with its label, unit and convention."""

from collections.abc import Mapping
from html import escape
from typing import Any, Literal, get_args, get_origin

from annotated_types import MaxLen
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from osrag.lab.catalog import KINDS
from osrag.lab.fields import as_text
from osrag.lab.kind import Kind
from osrag.lab.solve import is_rule, label, result_name, shown, unit_of
from osrag.lab.words import word
from osrag.types import Language
from osrag.wording import say

LONG_TEXT = 200  # a text that may be longer than this many characters gets a box of several lines
MOST_INLINE = 2  # optional quantities that stand among the others; more of them are folded


def title(kind: Kind[Any], language: Language) -> str:
    """The name of a kind for a reader."""
    return word("kinds", kind.name, language)


def topics() -> dict[str, list[Kind[Any]]]:
    """The kinds of each topic, in the order of the catalogue."""
    found: dict[str, list[Kind[Any]]] = {}
    for kind in KINDS.values():
        found.setdefault(kind.topic, []).append(kind)
    return found


def picker(kind: Kind[Any], language: Language) -> str:
    """Two lists: the topics, and the kinds of the chosen topic."""
    by_topic = topics()
    heads = {kinds[0].name: say(f"lab_topic_{topic}", language) for topic, kinds in by_topic.items()}
    kinds = {one.name: title(one, language) for one in by_topic[kind.topic]}
    return _pick("lab_topic", "lb-topic", heads, by_topic[kind.topic][0].name, language) + _pick(
        "lab_kind", "lb-kind", kinds, kind.name, language
    )


def _pick(key: str, css: str, choices: Mapping[str, str], chosen: str, language: Language) -> str:
    name = escape(say(key, language))
    return (
        f'<label class="lb-field"><span>{name}</span><select class="{css}">{_options(choices, chosen)}</select></label>'
    )


def _options(choices: Mapping[str, str], chosen: str) -> str:
    return "".join(
        f'<option value="{escape(value, quote=True)}"{" selected" * (value == chosen)}>{escape(text)}</option>'
        for value, text in choices.items()
    )


def form(kind: Kind[Any], values: Mapping[str, Any], language: Language) -> str:
    """All controls, filled with `values`: what is given, what is asked for, further quantities, conventions."""
    fields = kind.parameters.model_fields
    controls = {name: control(name, info, values.get(name), language) for name, info in fields.items()}
    rules = [name for name in fields if is_rule(fields[name])]
    spare = [name for name in fields if name not in [*rules, "ask"] and _is_spare(fields[name], values.get(name))]
    spare = spare if len(spare) > MOST_INLINE else []
    main = [name for name in fields if name not in [*rules, *spare, "ask"]] + ["ask"] * ("ask" in fields)
    parts = ["".join(controls[name] for name in main)]
    for key, names in (("lab_more", spare), ("lab_conventions", rules)):
        if names:
            head = escape(say(key, language, count=len(names)))
            inside = "".join(controls[name] for name in names)
            parts.append(f'<details class="lb-fold"><summary>{head}</summary><div>{inside}</div></details>')
    return (
        f'<form class="lb-form" autocomplete="off"><p class="lb-fault" data-for="" hidden></p>{"".join(parts)}</form>'
    )


def _is_spare(info: FieldInfo, value: Any) -> bool:
    """Whether nothing but the default stands there, so that most exercises do without the field."""
    return info.default is not PydanticUndefined and as_field(info, value) in ("", as_field(info, info.default))


def control(name: str, info: FieldInfo, value: Any, language: Language) -> str:
    """One parameter: its label and unit, an input that fits its type, and a place for what is wrong with it."""
    text = as_field(info, value)
    default = "" if info.default is PydanticUndefined else as_field(info, info.default)
    said = f"{escape(label(name, language))}{unit_html(unit_of(info), language)}"
    at = f'id="lb-{name}" name="{name}" aria-describedby="lb-fault-{name}"'
    hint = (
        f' placeholder="{escape(default or say("lab_optional", language), quote=True)}"' if _has_default(info) else ""
    )
    choices, wide = get_args(info.annotation) if _is_choice(info) else (), _is_long(info)
    if choices:
        names = {one: option_name(name, one, language) for one in choices}
        box = f"<select {at}>{_options(names, text or default)}</select>"
    elif wide and _is_rows(info):
        rows = max(2, text.count("\n") + 1)
        box = f'<textarea {at} rows="{rows}" spellcheck="false"{hint}>{escape(text)}</textarea>'
    else:
        number = ' inputmode="decimal"' * (info.annotation in (int, float))
        box = f'<input type="text" {at} value="{escape(text, quote=True)}" spellcheck="false"{number}{hint}>'
    fault = f'<p class="lb-fault" id="lb-fault-{name}" data-for="{name}" hidden></p>'
    full = " is-wide" * (wide or any(len(option) > LONG_OPTION for option in map(str, choices)) or name == "ask")
    return f'<label class="lb-field{full}"><span>{said}</span>{box}{fault}</label>'


LONG_OPTION = 60


def unit_html(unit: str, language: Language) -> str:
    """HTML of a unit behind the label of a field. A Chinese one loses the classifier that follows a number."""
    said = escape(word("units", unit, language).strip().removeprefix("个")) if unit else ""
    if not said:
        return ""
    return f"<small>（{said}）</small>" if language == "zh" else f" <small>({said})</small>"


def as_field(info: FieldInfo, value: Any) -> str:
    """A value as its box shows it: the rows of a table on lines of their own."""
    text = value if isinstance(value, str) else as_text(value)
    return "\n".join(row.strip() for row in text.split(";")) if _is_table(info) else text


def option_name(field: str, value: str, language: Language) -> str:
    """A choice for a reader."""
    return result_name(value, {}, language) if field == "ask" else shown(value, "", language)


def _has_default(info: FieldInfo) -> bool:
    return info.default is not PydanticUndefined


def _is_choice(info: FieldInfo) -> bool:
    return get_origin(info.annotation) is Literal


def _is_table(info: FieldInfo) -> bool:
    return get_origin(info.annotation) is tuple and get_origin(get_args(info.annotation)[0]) is tuple


def _is_rows(info: FieldInfo) -> bool:
    return _is_table(info) or info.annotation is str


def _is_long(info: FieldInfo) -> bool:
    """Whether the value may need the whole width: a list, a table, a program."""
    long = any(isinstance(limit, MaxLen) and limit.max_length > LONG_TEXT for limit in info.metadata)
    return get_origin(info.annotation) is tuple or (info.annotation is str and long)
