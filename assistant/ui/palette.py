"""The colours of the window, light and dark: one accent on warm neutrals, text at 4.5:1 or better everywhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours by what they are for, as ``#rrggbb``."""

    dark: bool
    window: str  # behind the transcript
    sidebar: str  # lists and bars
    surface: str  # fields, cards, menus
    sunken: str  # code, gauges' grooves
    hover: str
    selected: str
    bubble: str  # the person's messages
    border: str
    border_strong: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_soft: str
    amber: str
    amber_soft: str
    red: str
    red_soft: str
    shadow: str
    # code
    keyword: str
    string: str
    number: str
    name: str
    comment: str


LIGHT = Palette(
    dark=False,
    window="#fcfbf9",
    sidebar="#f4f1ec",
    surface="#ffffff",
    sunken="#f5f3ee",
    hover="#ebe7e0",
    selected="#e3ded4",
    bubble="#efebe4",
    border="#e5e0d8",
    border_strong="#cfc8bc",
    text="#23201c",
    muted="#67615a",
    accent="#1c6b60",
    accent_hover="#15574e",
    on_accent="#ffffff",
    accent_soft="#e0eeea",
    amber="#8a5a00",
    amber_soft="#fbf0d9",
    red="#ad2b20",
    red_soft="#fbe9e6",
    shadow="#23201c",
    keyword="#7a3e9d",
    string="#2f6b36",
    number="#9a4a12",
    name="#1d5fa6",
    comment="#6b665e",
)

DARK = Palette(
    dark=True,
    window="#1d1b19",
    sidebar="#171513",
    surface="#282522",
    sunken="#151311",
    hover="#2d2a26",
    selected="#38342f",
    bubble="#302c28",
    border="#35312c",
    border_strong="#504a43",
    text="#ece8e1",
    muted="#aaa399",
    accent="#7cc8b9",
    accent_hover="#95d6c9",
    on_accent="#0c2925",
    accent_soft="#23403b",
    amber="#e6b45c",
    amber_soft="#3b3120",
    red="#f0958a",
    red_soft="#442724",
    shadow="#000000",
    keyword="#c9a3e6",
    string="#9ccf95",
    number="#e8ad7c",
    name="#8fbdf0",
    comment="#98928a",
)


def contrast(first: str, second: str) -> float:
    """The WCAG 2 contrast ratio of two ``#rrggbb`` colours, 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
