"""Python programs of their own, beside the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

_HERE = os.path.dirname(os.path.abspath(__file__))


def program(code: str, *args: str) -> "subprocess.Popen[str]":
    """In a process group of its own."""
    before = f"import sys; sys.path.insert(0, {_HERE!r})\nfrom place import *\nfrom static_sdk import *\n"
    return subprocess.Popen(
        [sys.executable, "-c", before + textwrap.dedent(code), *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def line(child: "subprocess.Popen[str]") -> str:
    assert child.stdout is not None
    found = child.stdout.readline().strip()
    if found == "":
        child.kill()
        raise AssertionError(f"the program ended: {child.communicate()}")
    return found
