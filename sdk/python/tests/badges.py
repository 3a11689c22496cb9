"""Badges as an issuer makes them, from the pages of the protocol alone: a second hand that agrees
on the bytes with the other one. Ed25519 is that of RFC 8032, slow and for tests.
"""

from __future__ import annotations

import base64
import hashlib
import time
from typing import Tuple

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_BASE_Y = 4 * pow(5, -1, _P) % _P

Point = Tuple[int, int]


def _root(square: int) -> int:
    root = pow(square, (_P + 3) // 8, _P)
    if root * root % _P != square % _P:
        root = root * pow(2, (_P - 1) // 4, _P) % _P
    return root if root % 2 == 0 else _P - root


_BASE: Point = (_root((_BASE_Y * _BASE_Y - 1) * pow(_D * _BASE_Y * _BASE_Y + 1, -1, _P)), _BASE_Y)


def _add(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    both = _D * x1 * x2 * y1 * y2
    return (
        (x1 * y2 + x2 * y1) * pow(1 + both, -1, _P) % _P,
        (y1 * y2 + x1 * x2) * pow(1 - both, -1, _P) % _P,
    )


def _times(factor: int, point: Point) -> Point:
    total: Point = (0, 1)
    while factor:
        if factor % 2:
            total = _add(total, point)
        point, factor = _add(point, point), factor // 2
    return total


def _encoded(point: Point) -> bytes:
    x, y = point
    return (y | (x % 2) << 255).to_bytes(32, "little")


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


class Issuer:
    """A domain with one key."""

    def __init__(self, domain: str, seed: bytes) -> None:
        self.domain = domain
        digest = hashlib.sha512(seed).digest()
        self._secret = _number(digest[:32]) & ((1 << 254) - 8) | (1 << 254)
        self._prefix = digest[32:]
        self.key = _encoded(_times(self._secret, _BASE))

    @property
    def x(self) -> str:
        """The key as documents and lists have it."""
        return base64.urlsafe_b64encode(self.key).rstrip(b"=").decode()

    def badge(self, name: str, agent_id: str, seconds: int) -> str:
        """A badge that ends so many seconds from now, perhaps in the past; as text."""
        ends = int(time.time()) + seconds
        begins = ends - 24 * 60 * 60
        domain, agent = self.domain.encode(), agent_id.encode()
        times = [begins.to_bytes(8, "big"), ends.to_bytes(8, "big")]
        fields = [b"static relay v1 badge", domain, self.key, name.encode(), agent, *times, b""]
        signature = self._sign(b"".join(len(field).to_bytes(2, "big") + field for field in fields))
        parts = [b"\x01", _vector(domain), self.key, _vector(name.encode()), agent, *times, _vector(b""), signature]
        return "badge_" + base64.urlsafe_b64encode(b"".join(parts)).rstrip(b"=").decode()

    def _sign(self, message: bytes) -> bytes:
        nonce = _number(hashlib.sha512(self._prefix + message).digest()) % _ORDER
        commitment = _encoded(_times(nonce, _BASE))
        challenge = _number(hashlib.sha512(commitment + self.key + message).digest())
        return commitment + ((nonce + challenge * self._secret) % _ORDER).to_bytes(32, "little")


def _vector(data: bytes) -> bytes:
    """Shorter than 64 bytes."""
    assert len(data) < 64
    return bytes([len(data)]) + data
