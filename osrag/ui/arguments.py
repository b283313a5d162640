"""What comes to an endpoint from outside is checked before the endpoint sees it, and every refusal is one sentence.

The declared types are all there is: they check the arguments, and they are what a client reads about them.
"""

import functools
import inspect
import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar, get_type_hints

import gradio as gr
from gradio.components.api_component import Api
from pydantic import TypeAdapter, ValidationError

from osrag.errors import BadInput, OsragError
from osrag.nesting import check_nesting
from osrag.settings import Settings
from osrag.types import Language
from osrag.ui.admission import RateLimit, first_language, over_mcp
from osrag.wording import say

log = logging.getLogger(__name__)
T = TypeVar("T")


# What a program can tell errors apart by: an argument of a wrong type or beyond its limits; one that is of its type and
# cannot be used; too many calls in a minute; a model, index or disk that fails; a fault of osrag, which the log names.
Code = Literal["bad_argument", "bad_input", "too_often", "failed", "broken"]


class Refused(gr.Error):  # type: ignore[misc]
    """A sentence for the caller, with its code as `title`; the log gets no traceback of it.

    `duration` is, of `too_often`, the seconds to wait.
    """

    def __init__(self, sentence: str, code: Code = "bad_argument", duration: float = 10) -> None:
        super().__init__(sentence, duration=duration, title=code, print_exception=False)


# What Gradio and its components raise for a value that is not of their kind.
UNREAD = (gr.Error, BadInput, ValueError, TypeError, LookupError, AttributeError, OSError)


class _Unread(Exception):
    """A component cannot read the value that came for it."""


class Page(gr.Blocks):  # type: ignore[misc]
    """A page whose endpoints may be called with the first arguments alone, and which says what it cannot read."""

    async def process_api(self, block_fn: Any, inputs: Any, state: Any = None, request: Any = None, **more: Any) -> Any:
        """An event of the page or a call. What no component can read, as only a program sends it, is a sentence."""
        try:
            return await super().process_api(block_fn, inputs, state, request, **more)
        except _Unread as error:
            code = first_language(getattr(request, "headers", {}))
            raise Refused(say("page_unread", code, why=str(error))) from None

    async def preprocess_data(self, block_fn: Any, inputs: Any, *args: Any, **more: Any) -> Any:
        """The values as the components read them; the arguments of an endpoint are checked behind it."""
        if _is_endpoint(block_fn):
            return await super().preprocess_data(block_fn, inputs, *args, **more)
        try:
            check_nesting(inputs)
            check_text("data", inputs)
            return await super().preprocess_data(block_fn, inputs, *args, **more)
        except Refused:
            raise
        except UNREAD as error:
            raise _Unread(str(error).split("\n")[0][:200]) from None

    def validate_inputs(self, block_fn: Any, inputs: list[Any]) -> None:
        """Add the defaults of what a program left out; one without a default is None, which its type refuses."""
        if _is_endpoint(block_fn):
            inputs += [one.value for one in block_fn.inputs[len(inputs) :]]
        super().validate_inputs(block_fn, inputs)


def _is_endpoint(block_fn: Any) -> bool:
    return bool(block_fn.inputs) and all(isinstance(one, Api) for one in block_fn.inputs)


def checked(run: Callable[..., Any], limit: RateLimit, most_chars: int) -> Callable[..., Any]:
    """`run` behind the rate of its visitor, the types that it declares, and a limit of size for all arguments.

    It has to have an argument `request`. An MCP client gets its reply as JSON text.
    """
    signature, adapters = inspect.signature(run), _adapters(run)

    def read(args: Any, kwargs: Any) -> dict[str, Any]:
        given = signature.bind(*args, **kwargs).arguments
        spend(limit, given["request"])
        sent = {name: value for name, value in given.items() if name != "request"}
        check_nesting(sent)
        for name, value in sent.items():
            check_text(name, value)
        if (seen := len(str(sent))) > most_chars:
            raise Refused(f"the arguments have {seen} characters, the limit is {most_chars}")
        return {**given, **{name: typed(name, adapters[name], value) for name, value in sent.items()}}

    @functools.wraps(run)
    def whole(*args: Any, **kwargs: Any) -> Any:
        with _sentences():
            given = read(args, kwargs)
            return _for(given["request"], run(**given))

    @functools.wraps(run)
    def streamed(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with _sentences():
            given = read(args, kwargs)
            for reply in run(**given):
                yield _for(given["request"], reply)

    behind = streamed if inspect.isgeneratorfunction(run) else whole
    behind.__doc__ = _on_one_line(run)
    return behind


def spend(limit: RateLimit, request: gr.Request) -> None:
    """Count a request. Raises Refused where its visitor has to wait."""
    spent(limit, limit.wait_of(request), "en")


def spent(limit: RateLimit, wait_s: float, language: Language) -> None:
    """Raises Refused where the limit let a request wait."""
    if wait_s:
        raise Refused(limit.sentence(wait_s, language), "too_often", round(wait_s, 1))


def check_text(name: str, value: Any) -> None:
    """Raises Refused, which names the argument, for text with half a character, which nothing behind could write."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise Refused(f"{name}: the text holds half a character (a lone surrogate)") from None


def schemas(run: Callable[..., Any], settings: Settings) -> dict[str, dict[str, Any]]:
    """The JSON schema of each argument of `run`, in order, with what its docstring says of it.

    A limit that is the name of a setting becomes its value.
    """
    described = dict(re.findall(r"^    (\w+): (.+)$", _on_one_line(run), re.M))
    found = {name: adapter.json_schema() for name, adapter in _adapters(run).items()}
    for name, schema in found.items():
        if isinstance(most := schema.get("maxLength"), str):
            schema["maxLength"] = getattr(settings, most)
        schema["description"] = described[name]
    return found


def _adapters(run: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(run, include_extras=True)
    return {name: TypeAdapter(hints[name]) for name in inspect.signature(run).parameters if name != "request"}


def _on_one_line(run: Callable[..., Any]) -> str:
    """The docstring, with all that it says of one argument on one line: Gradio reads no further."""
    return re.sub(r"\n {8,}(?=\S)", " ", inspect.getdoc(run) or "")


def _for(request: gr.Request, reply: Any) -> Any:
    """The reply as JSON text where an MCP client asked; of an object Gradio would give it what Python writes."""
    return json.dumps(reply, ensure_ascii=False) if over_mcp(request) else reply


def typed(name: str, adapter: TypeAdapter[T], value: Any) -> T:
    """The value as the type that the endpoint declares. Raises Refused, which names the argument."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (name, *first["loc"]))
        got = first["input"]
        shown = repr(got) if isinstance(got, int | float) else repr(got[:80]) if isinstance(got, str) else ""
        raise Refused(f"{place}: {first['msg']}, got {shown or type(got).__name__}") from None


@contextmanager
def _sentences() -> Iterator[None]:
    """Tell the caller what went wrong in a sentence."""
    try:
        yield
    except OsragError as error:
        raise Refused(error.sentence(), "bad_input" if isinstance(error, BadInput) else "failed") from error
    except gr.Error:
        raise
    except Exception as error:
        log.error("an endpoint broke", exc_info=error)
        raise Refused(say("error_log", "en"), "broken") from error
