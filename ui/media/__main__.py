"""``python -m ui.media FILE``: what an upload becomes, and why not when it does not."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ui.media.report import report


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when the file can be sent, 1 when it cannot (the message says why), 2 for a wrong command line."""
    parser = argparse.ArgumentParser(prog="python -m ui.media", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--name", help="what the uploader called it; only shown, never used")
    parser.add_argument(
        "--as", dest="kind", choices=("image", "audio", "video"), help="treat it as this kind (default: by its content)"
    )
    parser.add_argument(
        "--whole", action="store_true", help="a clip as one file for the server instead of pictures and sounds"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")
    parser.add_argument("--out", type=Path, help="write the parts into this folder")
    asked = parser.parse_args(arguments)
    told = report(asked.file, asked.name, asked.kind, asked.whole, asked.out)
    if asked.json:
        json.dump(told, sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
    else:
        facts = [
            f"{key} {told[key]}"
            for key in ("width", "height", "duration_s", "frames_1fps", "has_audio")
            if told[key] is not None
        ]
        print(f"{told['name']}: {told['kind'] or '?'}, {len(told['parts'])} part(s)", *facts, sep=", ")
        for language in ("zh", "en"):
            if told[f"message_{language}"]:
                print(told[f"message_{language}"])
    return 0 if told["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
