"""One connected agent: what client, manager, channels and loops of this process share."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Deque, Dict, Mapping, NoReturn, Optional, Tuple

from .errors import StaticError, TransportError
from .frame_connection import Call, Link
from .recent import Recent
from .coroutines import Steps, ask
from .table import AGAIN
from .transport import Way

_CLOSE_SECONDS = 10.0


class Agent:
    """A connected agent. Lets go of it when nobody holds this object any more."""

    def __init__(self, way: Way, data_dir: str, agent_id: str) -> None:
        self.way = way
        self.data_dir = data_dir
        self.agent_id = agent_id
        #: Questions for one message whose askers were interrupted, by channel: what they get goes to the next one.
        self.leftover: Dict[str, Deque[Tuple[Link, Call]]] = {}
        self._received = Recent()
        self._finalizer = weakref.finalize(self, way.end)
        self._finalizer.atexit = False  # the end of the program is the link's own matter

    @property
    def driver(self) -> Link:
        """The link that there is now."""
        return self.way.link

    def ask(self, op: str, fields: Optional[Mapping[str, Any]] = None, body: bytes = b"") -> Steps[Any]:
        """One call; returns its answer's fields and bytes."""
        given = fields or {}
        again = AGAIN.get(op)
        is_safe = given.get(again) is not None if isinstance(again, str) else again is True
        while True:
            link = yield from self.way.reach()
            try:
                frame = yield from ask(link, op, given, body)
                return frame.header.get("ok", {}), frame.body
            except StaticError as error:
                if not is_safe or not self.way.goes_on(error):
                    raise

    def is_new(self, channel: str, message: Mapping[str, Any]) -> bool:
        """False for a message that ``receive`` has handed out before the host died."""
        key = (channel, message["sender"], message["id"])
        return not self.way.is_shared or not self._received.is_again(key, self.way.link)

    def close(self) -> Steps[None]:
        """Marks received items as processed. Closing twice, or closing after the driver died, is
        not an error.

        An interrupt while it waits leaves nothing half open: what was received may come again, and
        closing again waits.
        """
        link, problem = self.way.link, None
        if not self.way.closing:
            self.way.closing = True
            _kill_later(link)
            link.give_back()
            try:
                yield from ask(link, "close", {})
            except TransportError:
                pass  # it is closed already, by its death
            except StaticError as error:
                problem = error
            finally:
                link.close(TransportError("transport_error", "this client is closed; make another one"))
                link.end()
        yield link.exited
        if problem is not None:
            raise problem


def _kill_later(link: Link) -> None:
    """For a driver that does not answer any more."""
    killer = threading.Timer(_CLOSE_SECONDS, link.kill)
    killer.daemon = True
    try:
        killer.start()
    except RuntimeError:
        return  # the interpreter is about to end
    link.exited.add_done_callback(lambda _: killer.cancel())


class NotCopied:
    """An object that belongs to this process."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be copied or pickled: it holds a process; make one where it is needed")

