"""Screenshots of a running osrag at desktop and phone width, light and dark, for a look by eye.

python tools/screenshots.py http://127.0.0.1:7860 build/screenshots --question "什么是死锁？"
"""

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

SIZES = {"desktop": (1360, 900), "phone": (390, 844)}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--question", default="")
    parser.add_argument("--lang", default="zh")
    parser.add_argument("--wait", type=float, default=60, help="seconds an answer may take")
    parser.add_argument("--only", default="", help="such as desktop-light")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    browser_path = next(filter(None, map(shutil.which, CHROMIUM)))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=ARGS)
        for size, (width, height) in SIZES.items():
            for mode in ("light", "dark"):
                if args.only and args.only != f"{size}-{mode}":
                    continue
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=mode)
                shoot(page, args, f"{size}-{mode}")
                page.close()
        browser.close()


def shoot(page: Page, args: argparse.Namespace, name: str) -> None:
    page.goto(f"{args.url}/?lang={args.lang}")
    page.wait_for_selector("#os-question textarea", timeout=30_000)
    page.wait_for_timeout(1500)
    page.screenshot(path=args.folder / f"{name}-{args.lang}-empty.png")
    if not args.question:
        return
    page.fill("#os-question textarea", args.question)
    page.click("#os-send")
    page.wait_for_selector(".ev-card, #os-chat .bot", timeout=20_000)
    page.wait_for_selector("#os-send:visible", timeout=args.wait * 1000)
    page.wait_for_timeout(800)
    page.screenshot(path=args.folder / f"{name}-{args.lang}-answer.png")
    button = page.locator(".ev-page").first
    if button.count():
        button.click()
        page.wait_for_selector(".ev-picture img, .ev-picture p", timeout=20_000)
        page.wait_for_timeout(600)
        page.screenshot(path=args.folder / f"{name}-{args.lang}-page.png", full_page=size_is_phone(name))


def size_is_phone(name: str) -> bool:
    return name.startswith("phone")


if __name__ == "__main__":
    main()
