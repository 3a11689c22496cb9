"""Messages that this program was given lately: the next host may give some of them again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Tuple

from .frame_connection import Link

#: More than a host is ever ahead of its disk.
_MAX = 256


class Recent:
    """By what names the message, from which host it came."""

    def __init__(self) -> None:
        self._given: "OrderedDict[Tuple[str, ...], Link]" = OrderedDict()

    def is_again(self, key: Tuple[str, ...], link: Link) -> bool:
        """Whether another host has given it before."""
        known = self._given.pop(key, link)
        self._given[key] = link
        if len(self._given) > _MAX:
            self._given.popitem(last=False)
        return known is not link
