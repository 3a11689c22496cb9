"""Frames between this process and the driver: ``u32 length | u32 header length | header (JSON) |
bytes``, little endian.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Dict, Iterator, List, NamedTuple

from .errors import InvalidArgumentError, TransportError

PROTOCOL = 1
MAX_FRAME_BYTES = 8 * 1024 * 1024
MAX_HEADER_BYTES = 4 * 1024 * 1024

_TWO = struct.Struct("<II")
_LENGTH = 4


class Frame(NamedTuple):
    """A frame: its fields and its bytes."""

    header: Dict[str, Any]
    body: bytes


def encode_frame(header: Dict[str, Any], body: bytes = b"") -> bytes:
    """Raises ``payload_too_large``, and ``invalid_request`` for text that is no Unicode."""
    try:
        head = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError as error:
        raise InvalidArgumentError("invalid_request", f"An argument cannot be sent: {error}") from None
    length = _LENGTH + len(head) + len(body)
    if len(head) > MAX_HEADER_BYTES or length > MAX_FRAME_BYTES:
        raise InvalidArgumentError(
            "payload_too_large",
            f"A call has at most {MAX_FRAME_BYTES} bytes, {MAX_HEADER_BYTES} of them in its options; this one has {length}",
        )
    return b"".join((_TWO.pack(length, len(head)), head, body))


class FrameReader:
    """Turns pieces of a stream into frames. Raises ``protocol_error`` for anything else: nothing
    after it can be read.
    """

    def __init__(self) -> None:
        self._pieces: List[bytes] = []
        self._available = 0
        #: Bytes that the next frame needs as a whole; until its length is known, those of the two lengths.
        self._needed = _TWO.size

    def push(self, piece: bytes) -> Iterator[Frame]:
        self._pieces.append(piece)
        self._available += len(piece)
        if self._available < self._needed:
            return
        whole = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        at = 0
        self._needed = _TWO.size
        while len(whole) - at >= _TWO.size:
            length, head_bytes = _TWO.unpack_from(whole, at)
            _check(length, head_bytes)
            end = at + _LENGTH + length
            if end > len(whole):
                self._needed = end - at
                break
            start = at + _TWO.size
            yield Frame(_header(whole[start : start + head_bytes]), whole[start + head_bytes : end])
            at = end
        self._pieces = [whole[at:]] if at < len(whole) else []
        self._available = len(whole) - at


def _check(length: int, head_bytes: int) -> None:
    if not _LENGTH <= length <= MAX_FRAME_BYTES:
        raise _not_a_frame(f"its length is {length}")
    if head_bytes > min(length - _LENGTH, MAX_HEADER_BYTES):
        raise _not_a_frame(f"its header has {head_bytes} bytes")


def _header(head: bytes) -> Dict[str, Any]:
    try:
        parsed = json.loads(head)
    except (ValueError, RecursionError):
        raise _not_a_frame("its header is not JSON") from None
    if isinstance(parsed, dict):
        return parsed
    raise _not_a_frame("its header is not an object")


def _not_a_frame(why: str) -> TransportError:
    return TransportError("protocol_error", f"The driver sent bytes that are not a frame: {why}; close the client and create another")
