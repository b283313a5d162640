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


def test_a_lead_in_or_a_question_states_nothing():
    assert not is_claim("There are three reasons:")
    assert not is_claim("Why is that so?")
    assert is_claim("A semaphore is an integer with a queue.")
