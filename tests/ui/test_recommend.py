"""What to read next on the page: after the answer, and only where it is switched on."""

from types import SimpleNamespace

from osrag.settings import Settings
from osrag.ui.app import build


def handlers(page) -> list:
    return [fn for fn in page.fns.values() if getattr(fn.fn, "__name__", "") == "recommended"]


def test_it_runs_after_the_answer_and_changes_nothing_of_it(page):
    found = handlers(page)
    assert found
    for fn in found:
        assert fn.trigger_after is not None and not fn.queue
        assert {getattr(one, "elem_id", "") for one in fn.outputs} & {"os-chat", "os-evidence", "qz-verdict"} == set()


def test_it_is_off_where_the_operator_says_so_and_on_a_space(parts, monkeypatch):
    settings = parts.settings.model_copy(update={"recommend": False})
    assert handlers(build(SimpleNamespace(**{**vars(parts), "settings": settings}))) == []
    monkeypatch.setenv("SPACE_ID", "me/osrag")
    assert Settings(_env_file=None).recommend is False


def test_it_follows_the_language_of_the_page(page):
    after = {getattr(page.fns[fn.trigger_after].fn, "__name__", "") for fn in handlers(page)}
    assert "turn" in after and "greet" not in after  # before a first question there is nothing to say
