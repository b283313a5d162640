"""Sentences of an answer that talk to the marker instead of answering."""

import re

from osrag.text import sentences

MAX_CHARS = 6000  # of an answer that are read; the rest is more than any mark asks for

# Sentences that talk to the marker instead of answering. They are left out before anything is compared.
_ORDERS = re.compile(
    "|".join(
        (
            r"full (marks?|score|credit|points)",
            r"(max(imum)?|highest|top|perfect|all the) (marks?|score|points|grade)",
            r"\b(ignore|disregard|forget|override|bypass)\b.{0,60}"
            r"\b(rubric|instruction|prompt|rule|above|previous|criteri|reference|system|key)",
            r"\b(rubric|grader|grading|examiner|marker|marking|system prompt|json)\b|is_?correct",
            r"\b(AI|language) model\b|</?(system|assistant|user|instruction)|\[/?(INST|system)",
            r"\b(give|award|grant|assign) (me|this|it|us|my|all|full|every|maximum)\b",
            r"\b(the student|this answer|my answer)\b",
            r"\bmet\b\W{0,6}(yes|no|partly|true)\b|\b(every|all|each) (rubric )?points?\b",
            r"\bend of (the )?answer|answered (perfectly|correctly)|\bim_(start|end)\b|学生答案|(该|这个|本)学生",
            r"\b(mark|grade|score|rate|treat|count) (this|it|me|my|the)\b.{0,50}"
            r"\b(as|correct|full|10|100|five|5)",
            r"you (are|must|should|will) (now )?(a |an |be |give|grade|mark|award|answer|output|reply)",
            r"满分|评分标准|评分员|阅卷|判卷|评卷|系统提示|语言模型|大模型|你现在是|你必须|请你?(直接)?(判|给|打|输出|回复)",
            r"(忽略|无视|忘记|忘掉|跳过|不要管|别管).{0,20}(规则|标准|指令|要求|提示|参考答案|评分|以上|上面|前面|之前)",
            r"(给|打|判|算|评)(我|这|他|本|为|成|作)?.{0,12}(分(?!为|成|别|配|页|段|区|时|离)|正确|优秀|通过)",
            r"全部(得分点|要点).{0,8}(满足|命中|正确)|答案(完全)?正确",
        )
    ),
    re.I | re.S,
)


def without_orders(answer: str) -> str:
    """The answer without sentences that tell the marker what to do."""
    pieces = [piece for line in answer[:MAX_CHARS].splitlines() for piece in sentences(line)]
    if not _ORDERS.search(answer):
        return answer[:MAX_CHARS].strip()
    return "\n".join(piece for piece in pieces if not _ORDERS.search(piece))
