"""Page numbers as people write them."""

from collections.abc import Sequence


def ranges(numbers: Sequence[int]) -> str:
    """`1, 2, 3, 7` as `1-3, 7`; two neighbours stay apart: `1, 2`."""
    groups: list[list[int]] = []
    for number in sorted(set(numbers)):
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    parts: list[str] = []
    for group in groups:
        parts += [f"{group[0]}-{group[-1]}"] if len(group) > 2 else [str(number) for number in group]
    return ", ".join(parts)
