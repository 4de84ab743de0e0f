"""Writes docs/pictures/layers.svg, from pyproject.toml: `python docs/write_layers.py`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PICTURE = HERE / "pictures" / "layers.svg"
WIDTH, STEP, HIGH, LEFT = 820, 34, 24, 10
INK, PALE, FACE = "#33506b", "#eef3f8", "#ffffff"


def contracts() -> list[dict[str, Any]]:
    """The contracts of imports, in their order."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))
    found: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return found


def picture() -> str:
    """The text of docs/pictures/layers.svg."""
    first, *rooms = contracts()
    inside = {one["containers"][0]: one["layers"] for one in rooms}
    parts, y = [], LEFT
    for layer in first["layers"]:
        names = [name.strip() for name in layer.split("|")]
        wide = (WIDTH - 2 * LEFT - 6 * (len(names) - 1)) / len(names)
        lines = max(len(inside.get(name, ())) for name in names)
        high = 22 * lines + 10 if lines else HIGH
        for i, name in enumerate(names):
            x = LEFT + i * (wide + 6)
            parts.append(_box(x, y, wide, high, name.removeprefix("kernbrook."), PALE))
            for j, room in enumerate(inside.get(name, ())):
                parts.append(_box(x + wide * 0.3, y + 22 * j + 5, wide * 0.66, 18, room, FACE))
        y += high + STEP - HIGH
    high = y + LEFT - (STEP - HIGH)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high:g}" '
    head += f'font-family="sans-serif" font-size="13">\n<rect width="{WIDTH}" height="{high:g}" '
    return f'{head}fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"


def _box(x: float, y: float, wide: float, high: float, name: str, face: str) -> str:
    at = x + wide / 2 if face == FACE or high == HIGH else x + wide * 0.15
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="4" '
        f'fill="{face}" stroke="{INK}"/>'
        f'<text x="{at:.1f}" y="{y + high / 2 + 4.5:.1f}" text-anchor="middle" fill="{INK}">'
        f"{name}</text>"
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
