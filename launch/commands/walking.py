"""What ``install`` and ``weights`` share: their steps shown, or run in the server's Python and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from launch.errors import InputError
from launch.here import Here
from launch.output import launch_line
from launch.server_python import ServerProgram
from launch.steps import Step, carry_out


def walk(
    name: str,
    steps: Sequence[Step],
    program: ServerProgram | None,
    carry: bool,
    here: Here,
    given: Sequence[object] = (),
    **facts: str,
) -> int:
    """Print each step that is still to do; with ``carry`` run it too. ``given``: the options the user typed, for the
    line that goes on from here. Raises ``InputError`` when there is no server's Python to run it in, ``LaunchError``
    at the first step that fails.
    """
    out = here.out
    if carry and (program is None or program.python is None) and not all(step.done for step in steps):
        raise InputError("vllm-not-found", given="vllm")
    if facts:
        out.line("  ".join(facts.values()))
    ran: list[str] = []
    for number, step in enumerate(steps, 1):
        done = "  " + out.paint(out.text("steps.done"), "good") if step.done else ""
        out.line(f"{number}. {out.text(f'steps.{step.name}')}{done}")
        if not step.done:
            out.line("   " + step.line)
            if carry:
                carry_out(step, here.environ)
                ran.append(step.name)
    left = [step for step in steps if not step.done and step.name not in ran]
    out.say("steps.next" if left else "steps.complete", command=launch_line(name, *given, "--yes"))
    shape = [{"name": step.name, "line": step.line, "done": step.done, "ran": step.name in ran} for step in steps]
    out.json({**facts, "python": str(program.python) if program and program.python else None, "steps": shape})
    return 0


def typed(*options: tuple[str, object, object]) -> list[object]:
    """The words of those options (name, value, usual value) that are not as usual."""
    return [word for name, value, usual in options if value not in (None, usual) for word in (name, value)]
