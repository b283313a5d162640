"""What the model is asked to fill in: small schemas, one task each. Missing words are forgiven, wrong ones not."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from osrag.quiz.types import QuizItem

MAX_OPTION_LINES = 6


class Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


class OptionLine(Reply):
    key: str
    text: str


class ChoiceAnalysis(Reply):
    """Why the right answer is right. A reply that was cut keeps what it has."""

    reasoning: str = ""
    analysis: str = Field(min_length=1)
    knowledgePoint: str = ""
    optionAnalysis: list[OptionLine] = []


class PointVote(Reply):
    n: int
    met: Literal["yes", "partly", "no"]


class TextAnalysis(Reply):
    points: list[PointVote]
    reasoning: str = ""
    analysis: str = ""
    improvementSuggestions: str = ""


class BlankVote(Reply):
    answers: list[str] = Field(min_length=1)


def choice_vote(item: QuizItem) -> type[Reply]:
    """The schema of the model's own answer: only keys that exist can be given."""
    if item.type == "true_false":
        return create_model("TruthVote", __base__=Reply, answer=(bool, ...))
    keys = tuple(option.key for option in item.options)
    key = Literal[keys]  # type: ignore[valid-type]
    if item.type == "multiple_choice":
        return create_model("KeysVote", __base__=Reply, answer=(list[key], Field(min_length=1, max_length=len(keys))))
    return create_model("KeyVote", __base__=Reply, answer=(key, ...))
