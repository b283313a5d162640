from concurrent.futures import ThreadPoolExecutor

from osrag.models.usage import Call, UsageMeter


def call(purpose: str = "answer", ended: str = "done") -> Call:
    return Call(purpose, 100, 400, 20, 1.5, 3.0, ended)


def test_totals_are_by_purpose_and_last_calls_in_order() -> None:
    meter = UsageMeter(keep=2)
    for item in (call(), call("judge"), call("judge", "failed")):
        meter.record(item)
    meter.event("judge", "retry")
    totals = meter.totals()
    assert (totals["answer"]["calls"], totals["answer"]["prompt_tokens_cached"]) == (1, 400)
    assert (totals["judge"]["calls"], totals["judge"]["failed"], totals["judge"]["retry"]) == (2, 1, 1)
    assert [item.ended for item in meter.last(5)] == ["done", "failed"]
    assert meter.last()[0].prompt_tokens == 500


def test_totals_are_a_copy() -> None:
    meter = UsageMeter()
    meter.record(call())
    meter.totals()["answer"]["calls"] = 99
    assert meter.totals()["answer"]["calls"] == 1


def test_counts_survive_threads() -> None:
    meter = UsageMeter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: meter.record(call()), range(400)))
    assert meter.totals()["answer"]["generated"] == 8000
