"""osrag's own look: paper, ink and one green, with the fonts the machine has (no font host is asked)."""

from typing import Any

from osrag.settings import ROOT

ASSETS = ROOT / "assets"
STYLES = ASSETS / "osrag.css"
SCRIPT = ASSETS / "osrag.js"  # of an evidence panel
LAB_SCRIPT = ASSETS / "lab.js"
LOGO = ASSETS / "logo.svg"  # nested rings: the hardware in the middle, the kernel around it, the programs outside
SANS = ["ui-sans-serif", "system-ui", "PingFang SC", "Noto Sans CJK SC", "Microsoft YaHei", "sans-serif"]
MONO = ["ui-monospace", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace"]


def theme() -> Any:
    """A Gradio theme; colours that both modes share live here, the rest in osrag.css."""
    import gradio as gr

    green = gr.themes.Color(
        name="osrag",
        c50="#eef6f4", c100="#d5e9e5", c200="#add3cc", c300="#7fb9b0", c400="#4f9b91", c500="#2f7f76",
        c600="#1f6a62", c700="#1a5650", c800="#174641", c900="#133a36", c950="#0a2422",
    )  # fmt: skip
    base = gr.themes.Base(primary_hue=green, secondary_hue=green, neutral_hue="stone", font=SANS, font_mono=MONO)
    return base.set(
        body_background_fill="#f6f3ec",
        body_background_fill_dark="#15191b",
        block_background_fill="#fffdf8",
        block_background_fill_dark="#1c2224",
        background_fill_primary="#fffdf8",
        background_fill_primary_dark="#1c2224",
        background_fill_secondary="#f1ede3",
        background_fill_secondary_dark="#232a2d",
        body_text_color="#232b2e",
        body_text_color_dark="#e3e7e4",
        body_text_color_subdued="#5f6a6b",
        body_text_color_subdued_dark="#9aa6a4",
        border_color_primary="#ddd6c7",
        border_color_primary_dark="#333c3f",
        block_radius="12px",
        input_background_fill="#ffffff",
        input_background_fill_dark="#15191b",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_dark="*primary_500",
        button_secondary_background_fill="#ebe6d9",
        button_secondary_background_fill_hover="#e0dacb",
        button_secondary_background_fill_dark="#2b3437",
        button_secondary_background_fill_hover_dark="#364144",
        button_secondary_text_color="#232b2e",
        button_secondary_text_color_dark="#e3e7e4",
        button_large_radius="10px",
        button_small_radius="8px",
    )
