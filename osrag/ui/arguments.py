"""What comes to an endpoint from outside is checked before the endpoint sees it, and every refusal is one sentence."""

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, get_type_hints

import gradio as gr
from pydantic import TypeAdapter, ValidationError

from osrag.errors import OsragError
from osrag.nesting import check_nesting
from osrag.ui.admission import RateLimit
from osrag.wording import say

log = logging.getLogger(__name__)


class Refused(gr.Error):  # type: ignore[misc]
    """A sentence for the caller; the log gets no traceback of it."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, print_exception=False)


def checked(run: Callable[..., Any], limit: RateLimit, most_chars: int) -> Callable[..., Any]:
    """`run` behind the rate of its visitor, the types that it declares, and a limit of size for all arguments.

    It has to have an argument `request`.
    """
    signature, hints = inspect.signature(run), get_type_hints(run)
    adapters = {name: TypeAdapter(hints[name]) for name in signature.parameters if name != "request"}

    def read(args: Any, kwargs: Any) -> dict[str, Any]:
        given = signature.bind(*args, **kwargs).arguments
        if refusal := limit.refusal(given["request"], "en"):
            raise Refused(refusal)
        sent = {name: value for name, value in given.items() if name != "request"}
        check_nesting(sent)
        if (seen := len(str(sent))) > most_chars:
            raise Refused(f"the arguments have {seen} characters, the limit is {most_chars}")
        return {**given, **{name: _typed(name, adapters[name], value) for name, value in sent.items()}}

    @functools.wraps(run)
    def whole(*args: Any, **kwargs: Any) -> Any:
        with _sentences():
            return run(**read(args, kwargs))

    @functools.wraps(run)
    def streamed(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with _sentences():
            yield from run(**read(args, kwargs))

    return streamed if inspect.isgeneratorfunction(run) else whole


def _typed(name: str, adapter: TypeAdapter[Any], value: Any) -> Any:
    """The value as the type that the endpoint declares. Raises Refused, which names the argument."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (name, *first["loc"]))
        raise Refused(f"{place}: {first['msg']}, got {type(first['input']).__name__}") from None


@contextmanager
def _sentences() -> Iterator[None]:
    """Tell the caller what went wrong in a sentence."""
    try:
        yield
    except OsragError as error:
        raise Refused(error.sentence()) from error
    except gr.Error:
        raise
    except Exception as error:
        log.error("an endpoint broke", exc_info=error)
        raise Refused(say("error_log", "en")) from error
