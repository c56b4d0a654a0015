"""The colours and measures of the page as a Gradio theme, so that Gradio's own components carry the look."""

from __future__ import annotations

from gradio.themes import Base, Font, sizes
from gradio.themes.utils.colors import Color

# System fonts only, with the CJK faces of the three desktops and of Linux: nothing is fetched.
FONTS = ("Inter", "PingFang SC", "HarmonyOS Sans SC", "Microsoft YaHei", "Noto Sans CJK SC", "WenQuanYi Micro Hei")
MONO = ("ui-monospace", "SF Mono", "Menlo", "Consolas")

# The one accent: 5.2:1 on the light card, 9.5:1 on the dark one (AA wants 4.5:1).
LIVE = {"light": "#0b7a75", "dark": "#43c6bd"}
LIVE_SOFT = {"light": "#dff1ef", "dark": "#12312f"}
GROUND = {"light": "#f6f7f8", "dark": "#101314"}
CARD = {"light": "#ffffff", "dark": "#181c1e"}
INK = {"light": "#14171a", "dark": "#eef1f2"}
SOFT = {"light": "#5b6570", "dark": "#9aa5ad"}
LINE = {"light": "#e3e7ea", "dark": "#2a3034"}
ON_LIVE = {"light": "#ffffff", "dark": "#06201e"}

_TEAL = Color(
    "#effaf8",
    "#dff1ef",
    "#bfe4e0",
    "#8fd1cb",
    "#43c6bd",
    "#0f8f88",
    "#0b7a75",
    "#096661",
    "#0a514e",
    "#12312f",
    "#06201e",
)
_GREY = Color(
    "#f6f7f8",
    "#eef1f2",
    "#e3e7ea",
    "#cbd2d7",
    "#9aa5ad",
    "#6b7580",
    "#5b6570",
    "#3a4248",
    "#2a3034",
    "#181c1e",
    "#101314",
)


def _both(**roles: dict[str, str]) -> dict[str, str]:
    """Theme arguments for light and dark: ``name`` and ``name_dark``."""
    return {
        f"{name}{suffix}": tone[mode]
        for name, tone in roles.items()
        for mode, suffix in (("light", ""), ("dark", "_dark"))
    }


def theme() -> Base:
    """The page's theme."""
    clear = {"light": "transparent", "dark": "transparent"}
    base = Base(
        primary_hue=_TEAL,
        secondary_hue=_TEAL,
        neutral_hue=_GREY,
        font=[*(Font(name) for name in FONTS), "sans-serif"],
        font_mono=[*(Font(name) for name in MONO), "monospace"],
        radius_size=sizes.radius_lg,
    )
    return base.set(
        **_both(
            body_background_fill=GROUND,
            body_text_color=INK,
            body_text_color_subdued=SOFT,
            background_fill_primary=CARD,
            background_fill_secondary=GROUND,
            border_color_primary=LINE,
            border_color_accent=LIVE,
            color_accent_soft=LIVE_SOFT,
            link_text_color=LIVE,
            link_text_color_hover=LIVE,
            block_background_fill=CARD,
            block_border_color=LINE,
            block_title_text_color=SOFT,
            block_label_text_color=SOFT,
            block_label_background_fill=CARD,
            block_info_text_color=SOFT,
            panel_background_fill=clear,
            input_background_fill=clear,
            input_border_color=LINE,
            input_border_color_focus=LIVE,
            input_placeholder_color=SOFT,
            checkbox_background_color=CARD,
            checkbox_background_color_selected=LIVE,
            checkbox_border_color=LINE,
            checkbox_border_color_selected=LIVE,
            checkbox_label_background_fill=clear,
            checkbox_label_background_fill_hover=GROUND,
            checkbox_label_background_fill_selected=LIVE_SOFT,
            checkbox_label_border_color=LINE,
            checkbox_label_border_color_selected=LIVE_SOFT,
            checkbox_label_text_color=INK,
            checkbox_label_text_color_selected=LIVE,
            slider_color=LIVE,
            loader_color=LIVE,
            button_primary_background_fill=LIVE,
            button_primary_background_fill_hover=LIVE,
            button_primary_border_color=LIVE,
            button_primary_text_color=ON_LIVE,
            button_secondary_background_fill=clear,
            button_secondary_background_fill_hover=GROUND,
            button_secondary_border_color=LINE,
            button_secondary_text_color=INK,
        ),
        color_accent=LIVE["light"],
        block_border_width="0px",
        block_shadow="none",
        block_padding="0px",
        block_radius="10px",
        input_radius="10px",
        input_shadow="none",
        input_shadow_focus="none",
        input_padding="12px",
        input_text_size="16px",  # iOS zooms into a field whose text is smaller
        checkbox_label_shadow="none",
        checkbox_label_padding="4px 12px",
        checkbox_label_text_size="14px",
        button_large_radius="10px",
        button_large_text_size="16px",
        button_large_padding="11px 18px",
        button_primary_shadow="none",
        button_secondary_shadow="none",
        layout_gap="12px",
    )
