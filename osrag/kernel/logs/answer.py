"""K7: the reply to a pasted error log: analysis, fix, environment, the code concerned, then the explanation.

All but the explanation is read off the log and the index by rule, and is on the screen at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from osrag.answer.clock import Clock
from osrag.answer.events import NO_PATH, Event, Retrieved, SourceDone, Token
from osrag.answer.judge import number
from osrag.answer.source import Draft, Question
from osrag.answer.workflow import write
from osrag.kernel.code import SourceLine, all_lines, key_lines, place
from osrag.kernel.describe import BODY
from osrag.kernel.logs.blame import names
from osrag.kernel.logs.facts import environment_rows, facts
from osrag.kernel.logs.lines import Frame
from osrag.kernel.logs.read import ErrorLog
from osrag.kernel.parts import LEAD_CHARS, code_of, lead, path_text
from osrag.kernel.query import folders, renamed
from osrag.kernel.reading_path import reading_path
from osrag.kernel.search import KernelSearch
from osrag.kernel.source import KernelSource
from osrag.models.protocols import ChatModel
from osrag.text import clip
from osrag.types import CodeChunk, CodeHit, Language, Passage
from osrag.wording import say

NOT_TO_BLAME = {"oom", "init_killed", "vfs_root"}  # here the stack shows the kernel giving up, not the mistake
MAIN = 2  # functions whose code is quoted
NEAR_LINE = 3  # lines shown on either side of the one that the log names
LINE_CHARS = 300  # of an error line inside the prompt
NAMES = 0.9  # weight of the names that a log gives, beside its meaning (K7)
STEP = 0.06  # that a function loses for each place further down the list of suspects
FLOOR = 0.25  # of a function that the log names at all
MENTION = 0.2  # at most, for a function whose code only mentions the names
QUERY_CHARS = 400
POOL = 50


def answer_log(
    log: ErrorLog, question: Question, kernel: KernelSource | None, chat: ChatModel | None, names_weigh: float = NAMES
) -> Iterator[Event]:
    """The events of one reply, in the language of `question`. Without a kernel index (None) no code is quoted."""
    clock = Clock()
    language = question.reply_language
    search = kernel.search_in if kernel else None
    passages = number(find_log_code(search, log, k=question.passages, names_weigh=names_weigh)) if search else ()
    clock.mark("search")
    mains = _mains(log, passages)
    version = search.version if search else ""
    lines = {passage.number: _lines(log, code_of(passage), version) for passage in mains}
    in_stack = [one for one in passages if any(_passage(frame, [one]) for frame in _frames(log))]
    subsystems = folders(search.store.subsystem_names, language) if search else "-"
    shown = Retrieved(
        "kernel",
        passages,
        say("log_thought", language, subsystems=subsystems, kept=len(passages)),
        (log.line, *(frame.name for frame in log.suspects)),
        clock.stages,
        version,
        reading_path(in_stack, search.graph) if search else NO_PATH,
        tuple((number, tuple(line.number for line in rows)) for number, rows in lines.items()),
    )
    yield shown
    text = analysis(log, passages, language) + fix(log, language) + environment_text(log, version, language)
    if kernel is None:
        yield Token("kernel", text)
        yield SourceDone("kernel", text, (), "extracts", clock.stages)
        return
    asked = replace(question, text=prompt_question(log, language), language=language, history=())
    others = [passage for passage in passages if passage not in mains]
    no_code = say("log_no_code", language, subsystems=subsystems)
    code = lead("log_code", mains, lines, version, language) + "\n" if mains else f"{no_code}\n\n"
    large = chat is not None and chat.abilities.chain
    suspected = any(code_of(passage).name in {frame.name for frame in log.suspects} for passage in mains)
    draft = Draft(
        lead=text + code,
        cited=tuple(passage.number for passage in mains),
        explanation=kernel.explained(asked, asked.text, mains, (*mains, *others)) if large and suspected else None,
        ending=path_text(shown.path, passages, version, language),
        path=shown.path,
    )
    yield from write(kernel, draft, asked, asked.text, chat, clock)


def _mains(log: ErrorLog, found: Sequence[Passage]) -> list[Passage]:
    """Indexed functions among the suspects; else the first of the stack that is."""
    chosen = [passage for frame in log.suspects if (passage := _passage(frame, found))]
    below = [passage for frame in _frames(log) if (passage := _passage(frame, found))][:1]
    return list(dict.fromkeys(chosen or below))[:MAIN]


def _frames(log: ErrorLog) -> list[Frame]:
    """The suspects, what a hung task waits in, and all functions of the report that tell something."""
    waits = [log.inside] if log.kind.choose == "wait" and log.inside else []
    below = [frame for frame in log.blamed[1:] if not names().outer.fullmatch(frame.name)]
    return [*log.suspects[:2], *waits, *below, *log.telling]


def _lines(log: ErrorLog, chunk: CodeChunk, version: str) -> list[SourceLine]:
    """The lines around the one that the log names if the log comes from the indexed kernel; else the key lines."""
    first, last = chunk.where.first, chunk.where.last
    at = next((n for path, n in log.files if path == chunk.source and first <= n <= last), 0)
    if not at or log.environment.kernel.split("-")[0] != version:
        return key_lines(chunk, f"{log.line} {log.kind.meaning('en')}", chars=LEAD_CHARS, framed=True)
    return [line for line in all_lines(chunk) if abs(line.number - at) <= NEAR_LINE and line.text.strip()]


def analysis(log: ErrorLog, found: Sequence[Passage], language: Language) -> str:
    """The error line verbatim, what it means, who is to blame, what the numbers say."""
    parts = [say("log_analysis", language), f"{say('log_line', language)}\n```text\n{log.line}\n```"]
    points = [log.kind.meaning(language), *_where(log, found, language), *facts(log.lines, language)]
    points += [say(key, language, line=clip(log.later, LINE_CHARS)) for key in log.gaps]
    if log.configs:
        points.append(say("log_configs", language, names=", ".join(f"`{name}`" for name in log.configs[:8])))
    return "\n\n".join([*parts, "\n".join(f"- {point}" for point in points)]) + "\n\n"


def _where(log: ErrorLog, found: Sequence[Passage], language: Language) -> list[str]:
    """Sentences about the function and the line that the log points at."""
    labels = {frame.name: _label(frame, found) for frame in log.suspects}
    first = log.suspects[0] if log.suspects else None
    others = [frame for frame in log.suspects[1:] if not names().outer.fullmatch(frame.name)]
    if first is None:
        rows = [say("log_unknown", language)]
    elif log.kind.name in NOT_TO_BLAME:
        rows = [say("log_where_end", language, what=labels[first.name])]
    elif log.kind.choose == "wait":
        inside = _label(log.inside, found) if log.inside else "?"
        rows = [say("log_where_waits", language, what=labels[first.name], at=inside), _who_holds(log, found, language)]
        others = [frame for frame in others if frame in log.blamed]
    elif log.kind.choose == "loop":
        rows = [say("log_where_loops", language, what=labels[first.name])]
        if log.second:
            rows.append(say("log_where_seen", language, at=labels[log.second.name]))
        others = [frame for frame in others if frame != log.second]
    elif first.module and _passage(first, found) is None:
        rows = [say("log_where_module", language, what=labels[first.name], module=first.module)]
    else:
        rows = [say("log_where", language, what=labels[first.name])]
    if others:
        rest = ("、" if language == "zh" else ", ").join(labels[frame.name] for frame in others)
        rows.append(say("log_others", language, names=rest))
    places = [(frame.file, frame.line) for frame in log.suspects[:1] if frame.file] or log.files[:1]
    rows += [say("log_where_file", language, file=file, line=line) for file, line in places]
    return rows


def _who_holds(log: ErrorLog, found: Sequence[Passage], language: Language) -> str:
    """The task that the hung one waits for, or that the log does not tell."""
    if log.holder is None:
        return say("log_holder_unknown", language)
    frame = log.holder.frame
    at = _label(frame, found) if frame else "?"
    return say("log_holder", language, task=log.holder.task, lock=log.holder.lock, at=at)


def _passage(frame: Frame, found: Sequence[Passage]) -> Passage | None:
    """The passage of a function, also under its name of today."""
    names_of_it = (frame.name, renamed().get(frame.name, ("", ""))[0])
    return next((passage for passage in found if code_of(passage).name in names_of_it), None)


def _label(frame: Frame, found: Sequence[Passage]) -> str:
    """`name+offset`, with its place and number if it is in the index."""
    passage = _passage(frame, found)
    return f"`{frame.label}`" + (f" ({place(code_of(passage))}) [{passage.number}]" if passage else "")


def fix(log: ErrorLog, language: Language) -> str:
    """What to do about an error of this kind, and the commands that come next."""
    rows = "\n".join(f"{n}. {step}" for n, step in enumerate(log.kind.fixes(language), start=1))
    return f"{say('log_fix', language)}\n\n{rows}\n\n" + _commands(log, language)


def _commands(log: ErrorLog, language: Language) -> str:
    """Commands that lead from the log to the line of source, and to what only a dump shows."""
    sides = [log.suspects[0], log.second] if log.kind.choose != "top" and log.suspects else log.suspects[:1]
    frames = [frame for frame in sides if frame and frame.offset and log.kind.name not in NOT_TO_BLAME]
    lines = [f"./scripts/faddr2line {_binary(frame)} {frame.label}" for frame in frames]
    lines += [f"addr2line -fipe vmlinux 0x{frame.address}" for frame in frames[:1] if frame.address]
    if frames:
        lines.append("./scripts/decode_stacktrace.sh vmlinux < log.txt")
    shell = f"{say('log_commands', language)}\n\n```sh\n" + "\n".join(lines) + "\n```\n\n" if lines else ""
    machine = log.environment
    spot = log.suspects[0].label.split("/")[0] if log.suspects else "FUNCTION+OFFSET"
    filled = {"pid": machine.pid or "PID", "cpu": machine.cpu or "N", "frame": spot}
    dump = [row.format_map(filled) for row in log.kind.dump(language)]
    rows = "\n".join(f"- {row}" for row in dump)
    return shell + (f"{say('log_dump', language)}\n\n{rows}\n\n" if dump else "")


def _binary(frame: Frame) -> str:
    return f"{frame.module}.ko" if frame.module else "vmlinux"


def environment_text(log: ErrorLog, version: str, language: Language) -> str:
    """What the log tells about the machine, with a warning if its kernel is not the indexed one."""
    rows = environment_rows(log.environment, language) or [f"- {say('log_no_environment', language)}"]
    kernel = log.environment.kernel
    if kernel and version and not kernel.startswith(version):
        rows.append(f"- {say('log_other_version', language, log=kernel, index=version)}")
    return f"{say('log_environment', language)}\n\n" + "\n".join(rows) + "\n\n"


def prompt_question(log: ErrorLog, language: Language) -> str:
    """The log as a question for the prompt of the explanation."""
    blamed = [frame.name for frame in log.blamed]
    comma = "、" if language == "zh" else ", "
    way = say("log_path", language, names=comma.join(f"`{name}`" for name in blamed[1:4])) if blamed[1:] else ""
    return say(
        "log_question",
        language,
        line=clip(log.line, LINE_CHARS),
        meaning=log.kind.meaning(language),
        fn=blamed[0] if blamed else "?",
        path=way,
    )


def find_log_code(search: KernelSearch, log: ErrorLog, *, k: int, names_weigh: float = NAMES) -> list[CodeHit]:
    """The `k` best functions for a log: those it names, suspects first, then those that mention them."""
    named = _named(search, log)
    query = clip(f"{log.asked} {log.line} {log.kind.meaning('en')}".strip(), QUERY_CHARS)
    vector = search.encoder.queries([query])[0]
    keyword = dict.fromkeys(search.store.nearest(vector, POOL), 0.0) | _mentioned(search, log) | named
    if not keyword:
        return []
    cosines = search.store.vectors(np.array(list(keyword), dtype=np.int64)) @ vector
    meaning = (cosines - cosines.min()) / (np.ptp(cosines) or 1.0)
    scores = names_weigh * np.array(list(keyword.values())) + (1 - names_weigh) * meaning
    rows, hits = list(keyword), []
    for at in np.argsort(-scores, kind="stable"):
        row = rows[at]
        if keyword[row] or not named:  # beside functions that the log names, meaning alone earns no place
            found_by = "name" if row in named else "fusion"
            hits.append(CodeHit(search.store.chunk(row), float(scores[at]), float(cosines[at]), found_by))
    return hits[:k]


def _named(search: KernelSearch, log: ErrorLog) -> dict[int, float]:
    """Row -> keyword score of the functions that the log names, by their place among the suspects."""
    store = search.store
    found: dict[int, float] = {}
    for at, name in enumerate(dict.fromkeys(frame.name for frame in _frames(log))):
        rows = store.functions_named(name) or store.functions_named(renamed().get(name, ("", ""))[0])
        files = {frame.file for frame in _frames(log) if frame.name == name}
        rows = [row for row in rows if store.file_name(row) in files] or rows
        for row in rows[:2]:
            found.setdefault(row, max(FLOOR, 1.0 - STEP * at))
    return found


def _mentioned(search: KernelSearch, log: ErrorLog) -> dict[int, float]:
    """Row -> keyword score of functions whose code mentions the suspects."""
    scores = search.store.keyword_scores(BODY + frame.name.lower() for frame in log.blamed[:3])
    best = [int(row) for row in np.argsort(-scores)[:POOL] if scores[row] > 0]
    return {row: MENTION * float(scores[row] / scores[best[0]]) for row in best}
