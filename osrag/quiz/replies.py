"""What the model is asked to fill in: small schemas, one task each. Missing words are forgiven, wrong ones not."""

from pydantic import BaseModel, ConfigDict, Field

MAX_OPTION_LINES = 6


class Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


class OptionLine(Reply):
    key: str = ""
    text: str = ""  # empty in the line where a long reply was cut


class ChoiceAnalysis(Reply):
    """Why the right answer is right. A reply that was cut keeps what it has."""

    reasoning: str = ""
    analysis: str = Field(min_length=1)
    knowledgePoint: str = ""
    optionAnalysis: list[OptionLine] = []


class TextAnalysis(Reply):
    analysis: str = Field(min_length=1)
    improvementSuggestions: str = ""
