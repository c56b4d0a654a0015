"""The preflight: what would keep a layout from starting on this machine, or from lasting."""

from launch.doctor.checkup import Checkup, check

__all__ = ["Checkup", "check"]
