"""What the scripts of the page may ask the server for: each call is counted, checked, and kept to threads of its own.

Gradio runs these functions outside its queue and tells a script nothing of an error but that there was one. So a
refusal is a reply as well: `error` and `title` as of an endpoint, and the sentence where each script shows what it got.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from threading import Semaphore
from typing import Annotated, Any

import gradio as gr
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict  # pydantic reads the one of `typing` from Python 3.12 on

from osrag.errors import BadInput, OsragError
from osrag.nesting import check_nesting
from osrag.types import Language
from osrag.ui.admission import RateLimit, address_of, first_language
from osrag.ui.arguments import Code, Refused, check_text, spent, typed
from osrag.ui.words import told
from osrag.wording import say

PER_MINUTE = 600  # calls of one visitor; whoever types in a form of the lab makes up to eleven a second for a moment
MOST_ROWS, MOST_CELLS = 20_000, 200  # of a trace that is handed in; the longest has some hundred rows of ten cells
Short = Annotated[str, Field(max_length=500)]
Cell = str | int | float | bool | None
Function = Callable[[Any], Any]
Served = Callable[[Any, gr.Request], Awaitable[Any]]


class Sent(TypedDict, total=False):
    """What a script sends, of all functions. A text that may be long is cut by the function itself."""

    lang: Short
    chunk: Short
    name: Short
    file: Short
    relation: Short
    field: Short
    kind: Short
    level: Short
    seed: int | Short
    values: dict[str, Any] | None
    needs: list[Short]
    solve: bool
    rows: Annotated[list[Annotated[list[Cell], Field(max_length=MOST_CELLS)]], Field(max_length=MOST_ROWS)]
    text: str
    answer: str
    choice: int | None


SENT: TypeAdapter[Sent] = TypeAdapter(Sent)


@dataclass
class Threads:
    """So many calls at once; so many wait for them, and one more is refused."""

    name: str
    at_once: int
    waiting: int
    _pool: ThreadPoolExecutor = field(init=False)
    _places: Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.at_once, thread_name_prefix=self.name)
        self._places = Semaphore(self.at_once + self.waiting)

    async def run(self, function: Function, sent: Sent, language: Language) -> Any:
        """What the function gives. Raises Refused where there is no place."""
        if not self._places.acquire(blocking=False):
            raise Refused(say("queue_full", language, waiting=self.waiting), "too_often")
        made = self._pool.submit(function, sent)
        made.add_done_callback(lambda _: self._places.release())  # also where nobody waits for it any more
        return await asyncio.wrap_future(made)


class Scripts:
    """The functions of one page for its scripts. Each kind of work has threads of its own.

    However much is computed or drawn, a chat finds one of Gradio's.
    """

    def __init__(self, questions: RateLimit, visitors_per_address: int) -> None:
        self._questions = questions
        self._calls = RateLimit(PER_MINUTE, visitors_per_address, refused=questions.refused)
        self.quick = Threads("lab", 4, 64)
        self.pages = Threads("pages", 4, 32)  # drawn one after the other, but for a visitor's own file
        self.model = Threads("lab-reader", 2, 8)

    def behind(self, function: Function, threads: Threads) -> Served:
        """The function as Gradio gets it: behind the rate of the visitor, the types of `Sent`, and a bounded line.

        What waits for a model counts as a question besides.
        """

        async def run(sent: Any, request: gr.Request) -> Any:
            language = language_of(sent, request)
            try:
                for limit in (self._calls, *((self._questions,) if threads is self.model else ())):
                    spent(limit, limit.wait_s(await session_of(request), address_of(request)), language)
                check_nesting(sent)
                check_text("sent", sent)
                return await threads.run(function, typed("sent", SENT, sent), language)
            except Refused as error:
                return refusal(error.message, error.title)
            except BadInput as error:
                return refusal(error.sentence(), "bad_input")
            except Exception as error:  # noqa: BLE001 - `told` logs it; Gradio would send "Internal Server Error"
                return refusal(told(error, language), "failed" if isinstance(error, OsragError) else "broken")

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        return run


def refusal(sentence: str, code: Code) -> dict[str, Any]:
    """A reply that each script shows as the sentence: in its box, at its form, or in place of a page."""
    html = f'<p class="ev-text" role="alert">{escape(sentence)}</p>'
    page = {"pages": [], "message": sentence}
    lab: dict[str, Any] = {
        "result": "",
        "faults": {"": sentence},
        "link": {},
        "markdown": "",
        "readings": [],
        "row": None,
    }
    return {"error": sentence, "title": code, "html": html, **page, **lab}


def language_of(sent: Any, request: gr.Request) -> Language:
    """The language of the page, else that of the browser."""
    named = sent.get("lang") if isinstance(sent, Mapping) else None
    return first_language(request.headers if named not in ("zh", "en") else {"accept-language": named})


async def session_of(request: Any) -> str:
    """The session of the page; Gradio passes the bare request here, which keeps the body that it has read."""
    body = await request.json() if "json" in request.headers.get("content-type", "") else {}
    named = body.get("session_hash")
    return named if isinstance(named, str) else ""
