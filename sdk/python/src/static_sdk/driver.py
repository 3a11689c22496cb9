"""The driver: a child process that runs the SDK for this program alone, over its standard input and
output.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any, Callable, Dict, List, Sequence

from .errors import StaticError, TransportError
from .frame_connection import CHUNK, Link, log
from .runtime import driver_environment

_KEPT_LINES = 20


class Driver(Link):
    """One child process. A third thread reads what it prints."""

    def __init__(self, command: Sequence[str], on_ask: Callable[[Link, int], None]) -> None:
        self._lines: List[str] = []
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=driver_environment(),
                **apart(),
            )
        except OSError as error:
            raise StaticError("internal", f"the driver did not start: {error}") from error
        source, target = self._process.stdout, self._process.stdin
        assert source is not None and target is not None
        self._printing = self.start_thread(self._read_printed, "printed")
        super().__init__(source, target, on_ask)

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()

    def forget(self) -> None:
        super().forget()
        if self._process.stderr is not None:
            self._process.stderr.close()
        # A child of the fork cannot wait for it.
        self._process.returncode = 0

    def _hang_up(self) -> None:
        """The end of its input: it closes the agent, acknowledges nothing and exits."""
        self._target.close()

    def _gone(self) -> StaticError:
        code = self._process.wait()
        self._printing.join(1.0)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        said = "" if not self._lines else ". It said:\n" + "\n".join(self._lines)
        if not self.hello.done():
            return StaticError("internal", f"the driver did not start ({how}){said}")
        return TransportError("listener_died", f"the driver has gone ({how}); close this object and make another{said}")

    def _read_printed(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        rest = b""
        try:
            while True:
                piece = os.read(pipe.fileno(), CHUNK)
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines if piece else [*lines, rest]:
                    self._printed(line.decode("utf-8", "replace").rstrip())
                if not piece:
                    break
                rest = rest[-4096:]
        except OSError:
            pass
        pipe.close()

    def _printed(self, line: str) -> None:
        if line == "":
            return
        log.debug("driver: %s", line)
        self._lines = [*self._lines, line][-_KEPT_LINES:]


def apart() -> Dict[str, Any]:
    """A Ctrl-C of the terminal is for Python alone."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
