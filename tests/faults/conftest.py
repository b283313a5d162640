from tests.ui.conftest import address, page, parts, script  # noqa: F401
