"""Draw assets/social-preview.png, what a shared link shows, from its SVG.

python tools/social_preview.py
"""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ASSETS = Path(__file__).resolve().parent.parent / "assets"
SIZE = {"width": 1280, "height": 640}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    browser_path = next(filter(None, map(shutil.which, CHROMIUM)))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE)
        page.goto((ASSETS / "social-preview.svg").as_uri())
        page.screenshot(path=ASSETS / "social-preview.png")
        browser.close()


if __name__ == "__main__":
    main()
