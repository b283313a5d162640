import re

import pytest

from osrag.answer.citations import CitationWriter, is_claim
from osrag.answer.claims import Support


def write(text: str, *, supported: bool = True, size: int = 3) -> tuple[str, CitationWriter]:
    """`text` fed in pieces of `size`, as a model would send it."""
    writer = CitationWriter(
        check=lambda sentence, claimed: (
            Support(claimed[0] if claimed else 1, 1.0, "") if supported else Support(None, 0.2, "words")
        ),
        mark="[unverified]",
    )
    out = "".join(writer.feed(text[at : at + size]) for at in range(0, len(text), size))
    return out + writer.finish(), writer


def test_each_sentence_is_followed_by_its_citation():
    out, writer = write("Paging maps pages to frames. The table holds 4.5 entries e.g. for code.")
    assert out == "Paging maps pages to frames. [1] The table holds 4.5 entries e.g. for code. [1]"
    assert writer.cited == (1,)


def test_the_models_own_number_is_a_claim_that_is_taken_out_and_checked():
    out, _ = write("Paging maps pages to frames [3]. The table stores frame numbers [2, 4].", size=1)
    assert out == "Paging maps pages to frames. [3] The table stores frame numbers. [2]"


def test_what_no_passage_supports_is_marked():
    out, writer = write("Paging was invented on the moon.", supported=False)
    assert out == "Paging was invented on the moon. [unverified]"
    assert writer.unsupported == 1


def test_chinese_sentences_end_without_a_blank():
    out, _ = write("页表把虚拟页映射到页框。“时间片过长会退化。”因此要适中。", size=1)
    assert out == "页表把虚拟页映射到页框。 [1]“时间片过长会退化。” [1]因此要适中。 [1]"


def test_what_is_shown_never_depends_on_how_the_text_was_cut():
    text = (
        "Paging maps pages to frames [1]. A frame is 4.5 KB.\n- an item about page tables\n\nWhy? Because of the TLB."
    )
    assert len({write(text, size=size)[0] for size in (1, 2, 3, 5, 7, 200)}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "The pipe gives the process fd[0] for reading and fd[1] for writing.",
        "声明 int a[10]; 之后，a[0] 就是第一个元素。",
        "The call `pipe(fd)` fills `fd[0]` and `p->fd [1]` at once.",
        "An array:\n```c\nint a[10];\nx = a [2];\n```\n",
    ],
)
@pytest.mark.parametrize("size", [1, 3, 200])
def test_an_index_of_code_is_no_citation(text, size):
    out, writer = write(text, size=size)
    assert re.sub(r" \[1\](?=$|\n)", "", out) == text
    assert all(support.passage == 1 for _, support in writer.claims)  # the numbers were no claim on a passage


def test_a_number_behind_an_acronym_is_a_citation():
    out, _ = write("每个进程有自己的PCB[3]。", size=2)
    assert out == "每个进程有自己的PCB。 [3]"


def test_code_of_the_model_is_left_out_where_the_server_quotes_it():
    writer = CitationWriter(check=lambda *_: Support(1, 1.0, ""), mark="", drops_code=True)
    out = "".join(writer.feed(piece) for piece in ("It wakes ", "it. ``", "`c\nint fake;\n``", "` Then it ends."))
    assert "fake" not in out + writer.finish() and "```" not in out


def test_a_lead_in_or_a_question_states_nothing():
    assert not is_claim("There are three reasons:")
    assert not is_claim("Why is that so?")
    assert is_claim("A semaphore is an integer with a queue.")
