import pytest

from osrag.errors import BadSettings
from osrag.settings import ROOT, Settings, load_settings


def test_a_variable_sets_its_field(monkeypatch):
    monkeypatch.setenv("OSRAG_THRESHOLD", "0.8")
    assert load_settings().threshold == 0.8


def test_an_unknown_variable_is_refused_with_the_name_that_was_meant():
    with pytest.raises(BadSettings, match="OSRAG_PROFIL is no setting") as caught:
        load_settings({"OSRAG_PROFIL": "cpu"})
    assert "OSRAG_PROFILE" in caught.value.hint


def test_an_unknown_key_in_a_dotenv_is_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("OSRAG_THRESHOLD=0.3\nOSRAG_TRESHOLD=0.4\n")
    with pytest.raises(BadSettings, match="OSRAG_TRESHOLD"):
        load_settings()


def test_a_value_out_of_range_is_named_with_what_was_seen(monkeypatch):
    monkeypatch.setenv("OSRAG_SLOTS", "900")
    with pytest.raises(BadSettings, match=r"OSRAG_SLOTS.*900"):
        load_settings()


def test_a_key_is_never_printed(monkeypatch):
    monkeypatch.setenv("OSRAG_ENDPOINT_KEY", "sk-secret")
    assert "sk-secret" not in repr(load_settings())


def test_the_effort_fits_the_machine_unless_it_is_set():
    assert load_settings().effort_for(chain=False) == "fast"
    assert load_settings().effort_for(chain=True) == "deep"
    assert load_settings(effort="fast").effort_for(chain=True) == "fast"


def test_gradios_own_variables_count_until_osrags_are_set(monkeypatch):
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    monkeypatch.setenv("GRADIO_SERVER_PORT", "8123")
    assert (load_settings().host, load_settings().port) == ("0.0.0.0", 8123)
    monkeypatch.setenv("OSRAG_PORT", "9000")
    assert load_settings().port == 9000
    monkeypatch.delenv("OSRAG_PORT")
    monkeypatch.setenv("GRADIO_SERVER_PORT", "door")
    with pytest.raises(BadSettings, match=r"PORT.*door"):
        load_settings()


def test_chunks_overlap_by_half_at_most():
    assert load_settings(chunk_chars=600, chunk_overlap=300).chunk_overlap == 300
    with pytest.raises(BadSettings, match=r"OSRAG_CHUNK_OVERLAP.*half.*301"):
        load_settings(chunk_chars=600, chunk_overlap=301)


def test_every_setting_is_documented():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [name for name in Settings.model_fields if f"`OSRAG_{name.upper()}`" not in page] == []
