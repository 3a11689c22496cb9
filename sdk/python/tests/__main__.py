"""Runs tests and prints a line of JSON for each: ``python3 sdk/python/tests test_frames
test_interface``.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import time
import unittest
from typing import Any, Dict, Optional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

#: Far beyond any of these suites: then every thread says where it stands.
_SECONDS = 600


class Lines(unittest.TestResult):
    """One line for each test, as it ends."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._begun = time.monotonic()

    def addSuccess(self, test: unittest.TestCase) -> None:
        self._print(test, "passed")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._print(test, "skipped", reason)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._print(test, "failed", self.failures[-1][1])

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._print(test, "failed", self.errors[-1][1])

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Optional[Any]) -> None:
        if err is not None:
            self.addError(subtest, err)

    def _print(self, test: unittest.TestCase, outcome: str, text: str = "") -> None:
        name = test.shortDescription() or test.id()
        seconds = round(time.monotonic() - self._begun, 3)
        line: Dict[str, Any] = {"name": name, "outcome": outcome, "seconds": seconds, "text": text}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(_SECONDS, exit=True)
    loaded = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    result = Lines()
    loaded.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
