"""Sentences of an answer that talk to the marker instead of answering the exercise, and words in a code.

A sentence goes only if it names what nothing but marking has (a rubric, full marks, `isCorrect`, the tags of a chat
format), gives the marker or the assistant that reads it an order, or passes a verdict on "this answer". A word that
operating systems use as well (score, mark, system, key, rule, override, 给, 分, 部分) is never enough by itself. No
list of words is ever complete: what passes here is, like any padding, read only where it is near a point
(`grader.py`).
"""

import re
import unicodedata

from osrag.quiz.codes import in_code
from osrag.text import folded, sentences
from osrag.types import HAN

MAX_CHARS = 6000  # of an answer that are read; the rest is more than any mark asks for

_THIS_EN = r"(?:this|it|my|me|mine|us|the student|the) ?(?:one|answer|response|reply|submission|text|essay|work)?"
_ANSWER_EN = r"\b(?:this|my|the (?:student'?s|above)) (?:answer|response|reply|submission|text|essay|work)\b"
_MARKS_EN = r"(?:marks?|score|credits?|points?|grade)\b"
_MARKER_EN = r"(?:teacher|professor|examiner|grader|marker|assistant|judge|model|AI|instructor)\b"
_RULES_EN = r"(?:rubric|instructions|prompts?|rules?|criteria|criterion|reference(?: answer|(?! \w))|(?:answer )?key)\b"
_MARK_EN = r"(?:mark|grade|score|rate|treat|count|consider|accept|judge|assess)"
_ORDER_EN = r"(?:^|[.;:,>\]—-]\s*|\b(?:please|and|then|now|kindly|you (?:must|should|will|are to))\s+)"
_ORDERS_EN = (
    # what only marking has
    r"^#+\s*(?:system|user|assistant|instructions?)\s*:?\s*$",
    r"\brubrics?\b|\bmarking scheme\b|\bgrad(?:ing|er)\b|\b(?:system prompt|language model)\b|is_?correct\b",
    r"\"met\"|\bmet:\s*(?:yes|true)",
    rf"\bfull {_MARKS_EN}|\bdeduct (?:any|no|marks|points)\b",
    rf"\b(?:{_MARK_EN}|give|award)\b.{{0,30}}\b\w+ (?:out of|/) (?:5|10|100|five|ten)\b",
    r"</?(?:system|assistant|user|instruction)|\[/?(?:INST|system)|im_(?:start|end)\b",
    r"^\W*(?:assistant|score|grade|feedback|marker)\s*:|\bend of (?:the )?answer\b",
    # an order to the marker
    rf"{_ORDER_EN}(?:ignore|disregard|forget|override|bypass|skip)\s+"
    rf"(?:(?:all|any|the|these|those|your|of|previous|above|prior|marking|given)\s+)*{_RULES_EN}",
    rf"\b(?:above|your|these) {_RULES_EN}.{{0,20}}\b(?:void|cancelled|invalid|replaced|changed)\b",
    rf"\b(?:give|award|grant|assign)\s+(?:me|us|my|this|it)\b.{{0,40}}{_MARKS_EN}|\b(?:give|award|grant) me\b",
    rf"{_ORDER_EN}(?:award|grant|assign|output|give)\s+(?:this\s+|it\s+)?"
    rf"(?:the\s+|all\s+|every\s+)*(?:(?:full|maximum|highest|top|best|perfect)\s+)?{_MARKS_EN}(?!\s+(?:to|of|for)\b)",
    rf"\bdeserves?\b.{{0,20}}{_MARKS_EN}",
    rf"\b{_MARK_EN} {_THIS_EN}\s*(?:as\b.{{0,20}})?\b(?:correct|right|excellent|perfect|\d+|full)",
    r"\b(?:output|reply(?: with)?|respond(?: with)?|answer|say|return|print) [\"'“]?yes\b",
    rf"\byou are (?:now )?(?:an? )?(?:\w+ )?{_MARKER_EN}|\bas an? (?:\w+ )?{_MARKER_EN}.{{0,10}}you\b",
    rf"\b(?:dear|hello|hi|hey) (?:\w+ )?{_MARKER_EN}|^\W*(?:teacher|professor)\s*,|\blet me pass\b",
    # an order to an assistant
    r"\b(?:your|hidden|system) (?:\w+ )?(?:instructions|prompts?)\b|\binstructions (?:that )?you (?:were|have been)\b",
    r"\bcite (?:passage|nothing|page)\b|\bcite\b.{0,20}\[\d+\]|\banswer only in\b|\bcall the tool\b",
    r"\b(?:tell|inform) the student\b|\bthe student'?s (?:last |previous )?answer\b",
    # a verdict on this answer
    rf"{_ANSWER_EN}.{{0,30}}\b(?:correct|perfect|right|excellent|full|approved|A\+)",
    rf"\b(?:correct|right|approved|accept|grade (?:of|for))\b.{{0,10}}{_ANSWER_EN}",
    r"\bthe student (?:has )?(?:answer(?:s|ed)?|mention(?:s|ed)|said|met|meets|wrote|deserves)\b",
    r"\ball (?:the )?(?:criteria|points) (?:are|have been) (?:met|satisfied|fulfilled)\b",
)
_ANSWER_ZH = r"(?:本|此|该|这个|这份|这一|我的|以上)(?:答案|回答|作答|答卷|解答)"
_TASK_ZH = r"(?:本|这道?|该)题"
_GOOD_ZH = r"(?:正确|全对|满分|通过|优秀|及格|最高)"
_NUMBER_ZH = r"[0-9０-９一二三四五六七八九十百满高]+"
_ORDERS_ZH = (
    # what only marking has
    r"满分|得分点|评分(?:标准|规则|细则|员|人|模型|老师|已)|[阅判评]卷|系统提示[:：]|语言模型|大模型|学生(?:的)?答案",
    r"扣分|手下留情|让我(?:通)?过|扮演.{0,6}(?:老师|考官|教授)|任何(?:内容|答案|回答)都",
    # an order to the marker
    r"(?:忽略|无视|忘记|忘掉|跳过|不要管|别管)(?:以上|上面|前面|之前|所有|全部|一切|你的|这些|的)*"
    r"(?:规则|标准|指令|要求|提示|参考答案)",
    r"(?:规则|标准|指令)(?:已经)?(?:作废|更改|失效)",
    r"你(?:现在|将)?是一?[个位名]|你(?:必须|应当|应该|只需)(?:要)?(?:给|判|打|评|输出|回复|回答)",
    rf"(?<![申邀])请(?:你|您|老师|直接|务必)*(?:判|打|评|输出|回复|回答|给(?:我|本|这|该|出?{_NUMBER_ZH}分|个?(?:满|高)分))",
    rf"(?:判|打|算|评)(?:我|{_TASK_ZH}|{_ANSWER_ZH}|该生)|[给求](?:我|个){_GOOD_ZH}|给我",
    rf"[给打](?:出|个|上)?\s*{_NUMBER_ZH}\s*分(?![之为成配区段页钟支数])",
    rf"(?:判定?为|评为|视为|判|算)(?:我)?{_GOOD_ZH}",
    r"(?:回复|回答|输出)(?:[“\"']?是[”\"'。]|[“\"']?yes)|学生写了什么",
    r"^\W*(?:老师|助教|教授)(?:您?好|求|[，,].*我)",
    # an order to an assistant
    r"引用(?:任何段落|课本第)|引用第?\s*\[|调用工具|(?:收到|得到)的指令|只用.{1,3}语回答|告诉学生|学生.{0,6}的?答案",
    # a verdict on this answer
    rf"(?:{_ANSWER_ZH}|{_TASK_ZH}).{{0,15}}(?:{_GOOD_ZH}|判对|做对|算对|高分)",
    r"(?:全部|所有|每个|各)(?:得分点|要点).{0,8}(?:满足|命中|正确|覆盖)|(?:覆盖|包含|命中)了?(?:全部|所有)要点",
    r"(?:该|这个|本)学生|[按，,。]全对|判对|以我的为准|我的成绩",
)
_ORDERS = re.compile("|".join((*_ORDERS_EN, *_ORDERS_ZH)), re.I | re.S)


# Cyrillic and Greek letters that look like Latin ones, each above the one that a teacher would read.
_LOOK_ALIKE = dict(
    zip(
        map(ord, "асеорхуіѕјАВСЕНКМОРТХІЅοανΑΒΕΗΙΚΜΝΟΡΤΧΖ"),
        "aceopxyisjABCEHKMOPTXISoavABEHIKMNOPTXZ",
        strict=True,
    )
)
_WIDE_RUN = re.compile(r"[\uff01-\uff5e]{2,}")  # a single one is a sign of a Chinese sentence
_APART = re.compile(f"(?<=[{HAN}])[ \t]+(?=[{HAN}])")


def as_read(text: str) -> str:
    """The text as a teacher reads it, whatever characters it is set in.

    Without characters that have no shape, with Latin letters for those that look like them and for wide ones, and
    with Chinese words whose characters stand apart, as in scanned text, joined.
    """
    if text.isascii():
        return text
    shown = "".join(char for char in text if unicodedata.category(char) != "Cf")
    narrow = _WIDE_RUN.sub(lambda run: unicodedata.normalize("NFKC", run.group()), shown)
    return _APART.sub("", narrow.translate(_LOOK_ALIKE))


_FENCE = re.compile(r"```\w*")  # of code; nothing is left between two of them
# Where a bad scan has 0 or 1 for a letter of a word. Only the patterns are held against what is read so: a name that
# the student wrote so ("x1") stays as it is.
_IN_WORD = re.compile(r"(?<=[A-Za-z])[01](?=[A-Za-z])|\b[01](?=[A-Za-z]{2})|(?<=[A-Za-z])[01]\b")
_SPELT = re.compile(r"\b(?:[A-Za-z]\s+){5,}[A-Za-z]\b")  # letters that stand apart, words by more than one blank


def _as_scanned(text: str) -> str:
    """The text with the letters for which a scan has 0, 1 and rn, and with words whose letters stand apart joined."""
    joined = _SPELT.sub(lambda run: re.sub(r"\s(\s?)\s*", r"\1", run.group()), text)
    letters = _IN_WORD.sub(lambda sign: "ol"[int(sign.group())], joined)
    return re.sub(r"\s+", " ", letters.replace("rn", "m").replace("RN", "M"))


def _is_order(text: str) -> bool:
    read = as_read(text)
    return bool(_ORDERS.search(read) or _ORDERS.search(_as_scanned(read))) or in_code(read)


def without_orders(answer: str) -> str:
    """The first `MAX_CHARS` characters of the answer, without sentences that talk to the marker or are in a code."""
    answer = answer[:MAX_CHARS]
    pieces = [piece for line in answer.splitlines() for piece in sentences(line)]
    kept = [piece for piece in pieces if not _is_order(piece)]
    if len(kept) == len(pieces) and not _is_order(answer):
        return answer.strip()
    return "\n".join(piece for piece in kept if folded(piece) and not _FENCE.fullmatch(piece))
