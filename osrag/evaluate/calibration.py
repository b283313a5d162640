"""Is a confidence of 0.8 right eight times in ten? Expected calibration error, and its picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True)
class Bin:
    low: float
    high: float
    count: int
    confidence: float  # mean
    accuracy: float


def bins(confidence: Sequence[float], right: Sequence[bool], *, count: int = 10) -> list[Bin]:
    """Equal-width bins that hold anything; the last one takes a confidence of 1 too."""
    sure, ok = np.array(confidence, dtype=float), np.array(right, dtype=float)
    places = np.minimum((sure * count).astype(int), count - 1)
    out = []
    for place in range(count):
        inside = places == place
        if inside.any():
            mean, share = float(sure[inside].mean()), float(ok[inside].mean())
            out.append(Bin(place / count, (place + 1) / count, int(inside.sum()), mean, share))
    return out


def ece(confidence: Sequence[float], right: Sequence[bool], *, count: int = 10) -> float:
    """Expected calibration error (Guo et al., ICML 2017): mean gap of confidence and accuracy, weighted by bin."""
    found = bins(confidence, right, count=count)
    total = sum(one.count for one in found)
    return sum(one.count * abs(one.confidence - one.accuracy) for one in found) / total if total else 0.0


def plot(confidence: Sequence[float], right: Sequence[bool], path: Path) -> None:
    """A reliability diagram as SVG: one bar a bin, the diagonal is perfect."""
    size, pad = 320, 40
    bars = []
    for one in bins(confidence, right):
        x, height = pad + one.low * size, one.accuracy * size
        bars.append(
            f'<rect x="{x + 2:.1f}" y="{pad + size - height:.1f}" width="{size * (one.high - one.low) - 4:.1f}" '
            f'height="{height:.1f}" fill="#2f7f76"><title>{one.low:.1f}-{one.high:.1f}: {one.count} answers, '
            f"{one.accuracy:.2f} right</title></rect>"
        )
    end = pad + size
    label = f"ECE {ece(confidence, right):.3f}, {len(confidence)} answers"
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 2 * pad} {size + 2 * pad}" '
        f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>{"".join(bars)}'
        f'<path d="M{pad} {end}L{end} {pad}" stroke="#888" stroke-dasharray="4 4" fill="none"/>'
        f'<path d="M{pad} {pad}V{end}H{end}" stroke="#333" fill="none"/>'
        f'<text x="{pad}" y="{pad - 12}">{label}</text><text x="{pad + size / 2}" y="{end + 28}" '
        f'text-anchor="middle">confidence</text><text x="14" y="{pad + size / 2}" transform="rotate(-90 14 '
        f'{pad + size / 2})" text-anchor="middle">share right</text></svg>\n',
        encoding="utf-8",
    )
