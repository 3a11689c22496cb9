"""Messages of one ``send_many`` that go as one: those that come while the frame before them is
written.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from typing import Any, Dict, List, Mapping, Tuple

from .errors import error_of

#: In one group, as the driver takes them.
_MESSAGES = 64
_BYTES = 14_000
#: What a bundle adds to a message at most, beside what its fields say.
_ADDED_BYTES = 212


def message_id() -> str:
    return base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")


class Group:
    """Grows until it is written. From then on it stays as it is, also when the next host is told of
    it.
    """

    def __init__(self, channel: str, is_named: bool) -> None:
        self._channel = channel
        #: With a name it can be said twice: the relay takes it once.
        self._bundle = message_id() if is_named else None
        self._messages: List[Tuple[Dict[str, Any], bytes]] = []
        self._bytes = 0
        self._is_closed = False
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, fields: Mapping[str, Any], body: bytes) -> bool:
        """False when it is written already, or has no room. The first one is always taken."""
        given = {name: value for name, value in fields.items() if value is not None and name != "channel"}
        size = len(body) + _ADDED_BYTES + (len(json.dumps(given)) if given else 0)
        with self._lock:
            is_full = self._bytes + size > _BYTES or len(self._messages) >= _MESSAGES
            if self._is_closed or (is_full and self._messages):
                return False
            self._messages.append((given, body))
            self._bytes += size
            return True

    def close(self) -> Tuple[str, Dict[str, Any], bytes]:
        """The call to send: operation, fields and bytes."""
        with self._lock:
            self._is_closed = True
        if len(self._messages) == 1:
            fields, body = self._messages[0]
            return "send", {"channel": self._channel, **fields}, body
        messages = [{**fields, "length": len(body)} for fields, body in self._messages]
        given = {"channel": self._channel, "bundle": self._bundle, "messages": messages}
        return "sendAll", given, b"".join(body for _, body in self._messages)


def check_sent(answer: Mapping[str, Any]) -> None:
    """Raises the first error of those that were sent together."""
    for each in answer.get("sent", ()):
        if "error" in each:
            raise error_of(each["error"])
