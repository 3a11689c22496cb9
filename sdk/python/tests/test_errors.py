"""The tree of errors, against the table of the wire contract."""

import copy
import glob
import os
import pickle
import re
import unittest
from typing import Set

import static_sdk
from static_sdk.errors import error_of, python_text

PREFIXES = ("MLS engine error:", "transport error:", "invalid channel name:", "auth error:", "runtime error:")
SDK = os.path.join(os.path.dirname(__file__), "../..")

#: The interface's table of client errors.
INTERFACE = [
    ("TransportError", "join_timeout", "transport error:"),
    ("AuthError", "auth_failed", "auth error:"),
    ("AuthError", "auth_key_invalid", "auth error:"),
    ("TransportError", "transport_error", "transport error:"),
    ("TransportError", "connection_error", "transport error:"),
    ("TransportError", "listener_died", "runtime error:"),
    ("ChannelError", "channel_error", "invalid channel name:"),
    ("QuotaExceededError", "quota_exceeded", "transport error:"),
    ("MlsError", "mls_error", "MLS engine error:"),
]


def wire_table() -> "list[tuple[str, str]]":
    """Codes and classes of ``proto/base/errors.ts``."""
    with open(os.path.join(SDK, "../proto/base/errors.ts"), encoding="utf-8") as file:
        found = re.findall(r'^  (\w+): (?:map|passing)\(.*"(\w+)"\),$', file.read(), re.M)
    assert len(found) > 40, found
    return [(code, kind) for code, kind in found]


class Errors(unittest.TestCase):
    def test_interface(self) -> None:
        """every class, code and prefix of the interface's table"""
        for kind, code, prefix in INTERFACE:
            error = error_of({"class": kind, "code": code, "message": "why"})
            self.assertEqual((type(error).__name__, error.code, str(error)), (kind, code, f"{prefix} why"))
            self.assertIsInstance(error, RuntimeError)

    def test_wire(self) -> None:
        """every code of the wire contract has its class, and its text one of the five prefixes"""
        for code, kind in wire_table():
            error = error_of({"class": kind, "code": code, "message": "why"})
            self.assertIs(type(error), getattr(static_sdk, kind), code)
            self.assertTrue(str(error).startswith(PREFIXES), str(error))
            transport = issubclass(type(error), (static_sdk.TransportError, static_sdk.QuotaExceededError))
            self.assertTrue(transport or not str(error).startswith("transport error:"), f"{kind}: {error}")
            if kind in ("AuthError", "MlsError"):
                self.assertTrue(str(error).startswith(f"{'auth' if kind == 'AuthError' else 'MLS engine'} error:"))
        self.assertLessEqual({code for _, code, _ in INTERFACE}, {code for code, _ in wire_table()})

    def test_unknown(self) -> None:
        """a code and a class of a later version are told as they are, as InternalError"""
        error = error_of({"class": "LaterError", "code": "later", "message": "why"})
        self.assertEqual((type(error).__name__, error.code), ("InternalError", "later"))

    def test_fields(self) -> None:
        """what an error carries comes in seconds and under Python names"""
        error = error_of({"class": "RemovedError", "code": "removed", "message": "x", "by": "b", "atMs": 1500})
        assert isinstance(error, static_sdk.RemovedError)
        self.assertEqual((error.by, error.time), ("b", 1.5))
        busy = error_of({"class": "UnavailableError", "code": "overloaded", "message": "x", "retryAfterMs": 250, "retryable": True})
        self.assertEqual((busy.retry_after, busy.retryable), (0.25, True))
        self.assertIsInstance(busy, static_sdk.TransportError)
        choice = error_of({"class": "ChannelError", "code": "choice_needed", "message": "x", "members": ["a", "b"]})
        self.assertEqual((choice.members, busy.members), (("a", "b"), ()))

    def test_copies(self) -> None:
        """errors can be pickled and copied"""
        remote = static_sdk.RemoteError("no", remote_code="no_such_city", retry_after=2.0)
        for error in (remote, error_of({"class": "MlsError", "code": "mls_error", "message": "x", "epoch": 3})):
            for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
                self.assertEqual((type(again), str(again), vars(again)), (type(error), str(error), vars(error)))

    def test_texts(self) -> None:
        """no text of the SDK names an option or a function as JavaScript does"""
        texts: Set[str] = set()
        for path in glob.glob(os.path.join(SDK, "**/*.ts"), recursive=True):
            if path.endswith("_test.ts") or "/testing/" in path or "/gen/" in path:
                continue
            with open(path, encoding="utf-8") as file:
                code = re.sub(r"/\*.*?\*/|^\s*//[^\n]*", "", file.read(), flags=re.S | re.M)
            literals = re.findall(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', code)
            texts.update(re.sub(r"\$\{[^}]*\}", "0", one or other) for one, other in literals if " " in one + other)
        self.assertGreater(len(texts), 200)
        kept = re.compile(r"\b[a-z]+[A-Z]\w*|\{ \w+: ")
        left = sorted(text for text in texts if kept.search(python_text(text)))
        self.assertEqual(left, [])
