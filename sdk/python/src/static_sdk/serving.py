"""Requests of others, handled in threads."""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable, Dict, Optional, Set, Tuple

from .agent import NotCopied
from .errors import RemoteError, StaticError
from .operations import content_of
from .coroutines import Steps, run
from .streams import Item, Stream
from .values import Payload, Request, message_fields

log = logging.getLogger("static_sdk")

Handler = Callable[[Request], Payload]


class Serving(NotCopied):
    """Requests that are being handled; ends by ``stop()`` or with the channel."""

    def __init__(self, stream: Stream, handler: Handler) -> None:
        self._stream = stream
        self._handler = handler
        self._running: Set[threading.Thread] = set()
        self._thread = threading.Thread(target=self._serve, name="static_sdk serve", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Takes no more requests, and waits for those that were begun."""
        run(self._stream.end(finish=False))
        self.wait()

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until the last request is handled. Returns whether that is so."""
        self._thread.join(timeout)
        for thread in list(self._running):
            thread.join(timeout)
        return not self._thread.is_alive()

    def __enter__(self) -> "Serving":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _serve(self) -> None:
        while True:
            try:
                item = run(self._stream.next())
            except StaticError as error:
                log.warning("Serving has ended: %s", error)
                return
            if item is None:
                return
            thread = threading.Thread(target=self._handle, args=(item,), name="static_sdk handler", daemon=True)
            self._running.add(thread)
            thread.start()

    def _handle(self, item: Item) -> None:
        try:
            request, done = begin(item)
            try:
                answer = reply_of(self._handler(request))
            except Exception as error:
                answer = failure_of(error, request)
            run(settle(self._stream, item, answer, done))
        finally:
            self._running.discard(threading.current_thread())


#: Operation, fields and bytes that settle a request.
Answer = Tuple[str, Dict[str, Any], bytes]


def begin(item: Item) -> Tuple[Request, Callable[[], None]]:
    """The request, and what to call when it is settled."""
    over_now = threading.Event()
    serving, place = item.place.link.serving, (item.place.stream, item.place.item)
    serving[place] = over_now.set
    fields = message_fields(item.fields["envelope"], item.body)
    attempt, deadline = item.fields["attempt"], item.fields["deadlineMs"] / 1000
    request = Request(**fields, attempt=attempt, deadline=deadline, _is_over=over_now.is_set)
    return request, lambda: serving.pop(place, None) and None


def reply_of(payload: Payload) -> Answer:
    content, content_type = content_of(payload)
    return "reply", {"contentType": content_type}, content


def failure_of(error: Exception, request: Request) -> Answer:
    """Without a ``RemoteError`` the handler's own words stay on this side."""
    if not isinstance(error, RemoteError):
        log.exception("The handler of request %s failed", request.id)
        return "fail", {"message": "The handler failed"}, b""
    after = error.retry_after
    fields = {
        "message": error.message,
        "remoteCode": error.remote_code,
        "retryable": error.retryable,
        "retryAfterMs": None if after is None else round(after * 1000),
    }
    return "fail", fields, b""


def settle(stream: Stream, item: Item, answer: Answer, done: Callable[[], None]) -> Steps[None]:
    op, fields, body = answer
    done()
    try:
        yield from item.place.ask(op, fields, body)
    except StaticError as error:
        if not stream.agent.way.is_over(error):
            log.warning("A reply could not be given: %s", error)
