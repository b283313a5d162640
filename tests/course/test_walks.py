"""The walk-throughs of the kernel hold: names, lines and edges are in the index that is shipped."""

import check_walks


def test_every_walk_holds_against_the_index(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["check_walks.py"])
    assert check_walks.main() == 0, capsys.readouterr().out
    assert int(capsys.readouterr().out.split()[0]) >= 300


def test_a_line_that_moved_and_a_call_that_is_gone_are_named(monkeypatch, capsys, tmp_path) -> None:
    text = (check_walks.ROOT / "examples" / "kernel" / "walks" / "faults.toml").read_text(encoding="utf-8")
    wrong = text.replace('"ret = __handle_mm_fault(vma, address, flags);"', '"ret = handled(vma);"')
    wrong = wrong.replace(
        'edge = { kind = "call", from = "handle_mm_fault" }', 'edge = { kind = "call", from = "do_exit" }', 1
    )
    (tmp_path / "faults.toml").write_text(wrong, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["check_walks.py", str(tmp_path / "faults.toml")])
    assert check_walks.main() == 1
    said = capsys.readouterr().out
    assert "handle_mm_fault: has no line 'ret = handled(vma);'" in said and "do_exit does not call it" in said
