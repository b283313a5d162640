"""Order of the run: fast tests, then those with real weights, then the browser. No network in tests."""

import shutil

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def weight(item: pytest.Item) -> int:
        return 2 if item.get_closest_marker("browser") else 1 if item.get_closest_marker("slow") else 0

    items.sort(key=weight)  # stable: files keep their order


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A developer's own OSRAG_* variables do not change a unit test."""
    if request.node.get_closest_marker("slow") or request.node.get_closest_marker("browser"):
        return
    import os

    for name in list(os.environ):
        if name.startswith("OSRAG_"):
            monkeypatch.delenv(name)


def chromium() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium on this machine")
    return found


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = chromium()
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_api.sync_playwright() as play:
        instance = play.chromium.launch(executable_path=path, args=flags)
        yield instance
        instance.close()
