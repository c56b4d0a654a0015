"""The arrows of the house: which room may import which (docs/architecture.md)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RULES = [
    ("launch", ("ui", "gradio", "torch", "app")),
    ("launch/rehearsal", ("ui", "gradio", "torch", "launch")),
    ("ui", ("app",)),
    ("ui/turn", ("gradio", "ui.tabs", "ui.page", "ui.live", "ui.media")),
    ("ui/media", ("gradio", "ui.tabs", "ui.page", "ui.live")),
    ("ui/live", ("gradio", "ui.tabs", "ui.page")),
]


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the arrows"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize(("room", "forbidden"), RULES, ids=[room for room, _ in RULES])
def test_no_room_imports_against_the_arrows(room: str, forbidden: tuple[str, ...]) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert files
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in imported(path)
        for target in forbidden
        if (name == target or name.startswith(target + "."))
        and not name.startswith(room.replace("/", ".") + ".")
        and name != room.replace("/", ".")
    ]
    assert not wrong, wrong
