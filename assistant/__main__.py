"""``python -m assistant`` and ``keepsake``: hands over to the composition root; knows no Qt."""

from __future__ import annotations

import sys


def main() -> int:
    from assistant.app import main as app_main

    return app_main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
