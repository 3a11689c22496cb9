"""Requests of others, handled in threads."""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable, Dict, Optional, Set, Tuple

from .agent import NotCopied
from .errors import RemoteError, StaticError
from .operations import content_of, over
from .steps import Steps, run
from .streams import Stream
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
            thread = threading.Thread(target=self._handle, args=item, name="static_sdk handler", daemon=True)
            self._running.add(thread)
            thread.start()

    def _handle(self, item: Dict[str, Any], body: bytes) -> None:
        try:
            request, done = begin(self._stream, item, body)
            try:
                answer = reply_of(self._handler(request))
            except Exception as error:
                answer = failure_of(error, request)
            run(settle(self._stream, item, answer, done))
        finally:
            self._running.discard(threading.current_thread())


#: Operation, fields and bytes that settle a request.
Answer = Tuple[str, Dict[str, Any], bytes]


def begin(stream: Stream, item: Dict[str, Any], body: bytes) -> Tuple[Request, Callable[[], None]]:
    """The request, and what to call when it is settled."""
    over_now = threading.Event()
    place = (stream.number, int(item["item"]))
    serving = stream.agent.serving
    serving[place] = over_now.set
    fields = message_fields(item["envelope"], body)
    request = Request(**fields, attempt=item["attempt"], deadline=item["deadlineMs"] / 1000, _is_over=over_now.is_set)
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


def settle(stream: Stream, item: Dict[str, Any], answer: Answer, done: Callable[[], None]) -> Steps[None]:
    op, fields, body = answer
    done()
    try:
        yield from stream.agent.ask(op, {"stream": stream.number, "item": item["item"], **fields}, body)
    except StaticError as error:
        if not over(error, stream.agent):
            log.warning("A reply could not be given: %s", error)
