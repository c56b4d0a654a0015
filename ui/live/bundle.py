"""A recording as one file."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path


def bundled(folder: Path, names: Sequence[str]) -> Path:
    """A ZIP file of those ``names`` that are in ``folder``, outside of it; the caller removes it. Blocks.

    Stored, not packed: sound does not shrink, and an hour of it is 345 MB.
    """
    with (
        tempfile.NamedTemporaryFile(prefix="omni-live-", suffix=".zip", delete=False) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as whole,
    ):
        for name in names:
            if (folder / name).is_file():
                whole.write(folder / name, f"omni-live/{name}")
    return Path(file.name)
