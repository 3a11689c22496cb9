"""Everything that this library raises.

The class says what to do, ``code`` is for programs, the text is for people. Every error is a
``RuntimeError`` whose text begins with one of five prefixes, so code that knows the low-level
client and code that knows the manager's classes both work.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Type


class StaticError(RuntimeError):
    """Everything that this library raises.

    >>> error = StaticError("rate_limited", "Too many calls", retryable=True, retry_after=1.5)
    >>> (error.code, error.retryable, error.retry_after)
    ('rate_limited', True, 1.5)
    >>> str(error)
    'transport error: Too many calls'
    """

    #: What went wrong, for programs; never renamed.
    code: str
    #: What went wrong and what to do, in words, without the prefix.
    message: str
    #: Whether the same call may succeed later, with nothing changed.
    retryable: bool
    #: Seconds after which trying again makes sense.
    retry_after: Optional[float]
    #: With ``epoch_conflict``: the channel's epoch.
    epoch: Optional[int]
    #: With ``name_taken``: this agent is in the channel already.
    channel: Optional[str]
    #: Members that it is about. With ``choice_needed``: those that ``recover()`` would leave out beside the sender of the commit.
    members: Tuple[str, ...]

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after: Optional[float] = None,
        epoch: Optional[int] = None,
        channel: Optional[str] = None,
        members: Sequence[str] = (),
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after
        self.epoch = epoch
        self.channel = channel
        self.members = tuple(members)

    def __str__(self) -> str:
        return f"{self._prefix()}: {self.message}"

    def __reduce__(self) -> Any:
        # Constructors differ, so pickling and copying go around them.
        return _again, (type(self), self.args, self.__dict__)

    def _prefix(self) -> str:
        return "runtime error" if self.code in _RUNTIME_CODES else "transport error"


class TransportError(StaticError):
    """The relay or the API could not be reached or was lost."""


class UnavailableError(TransportError):
    """The service is busy or unavailable for a while: try again after ``retry_after``."""


class InternalError(TransportError):
    """Something failed that should not have: a mistake of this library or of the service."""

    def _prefix(self) -> str:
        return "runtime error"


class AuthError(StaticError):
    """A key or token is missing, wrong, expired or revoked."""

    def _prefix(self) -> str:
        return "auth error"


class ChannelError(StaticError):
    """A channel's name, membership or limits do not allow it."""

    def _prefix(self) -> str:
        return "invalid channel name" if self.code == "channel_error" else "runtime error"


class RemovedError(ChannelError):
    """This agent was removed from the channel."""

    #: The owner that did it; None when only the relay says so.
    by: Optional[str] = None
    #: When, in seconds since 1970 by the relay's clock; None when this agent was not there to see it.
    time: Optional[float] = None


class QuotaExceededError(StaticError):
    """The plan's message limit is reached."""


class MlsError(StaticError):
    """MLS state is corrupt or out of step: leave, and join again with a new invite token."""

    def _prefix(self) -> str:
        return "MLS engine error"


class InvalidArgumentError(StaticError):
    """The call is wrong: change its arguments."""

    def _prefix(self) -> str:
        return "runtime error"


class StoreError(StaticError):
    """The data directory: in use by another process, damaged, or locked with another passphrase."""

    def _prefix(self) -> str:
        return "runtime error"


class RemoteError(StaticError):
    """The handler of a request failed. A handler raises it to tell the requester why; the requester
    gets it from ``request``.

    >>> error = RemoteError("I do not know this city", remote_code="no_such_city")
    >>> (error.code, error.remote_code)
    ('remote_error', 'no_such_city')
    """

    #: What went wrong, in the handler's own words for programs.
    remote_code: str

    def __init__(
        self,
        message: str,
        *,
        remote_code: str = "failed",
        retryable: bool = False,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__("remote_error", message, retryable=retryable, retry_after=retry_after)
        self.remote_code = remote_code

    def _prefix(self) -> str:
        return "runtime error"


def _again(kind: Type[StaticError], args: Any, state: Dict[str, Any]) -> StaticError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


#: Codes that are about this process although their class is not.
_RUNTIME_CODES = frozenset(["internal", "queue_full", "listener_died"])

_CLASSES = {
    each.__name__: each
    for each in (
        TransportError,
        UnavailableError,
        InternalError,
        AuthError,
        ChannelError,
        RemovedError,
        QuotaExceededError,
        MlsError,
        InvalidArgumentError,
        StoreError,
    )
}

#: Options and functions that texts of the SDK name, as they are called here.
_PYTHON_NAMES = {
    "{ queue: true }": "queue=True",
    "{ receive: false }": "receive=False",
    "{ json: value }": "Json(value)",
    '{ ack: "manual" }': 'ack="manual"',
    "`to`": "to",
    "recover({ without })": "recover(without=...)",
    "recover({ keep })": "recover(keep=...)",
    "expiresInMs": "expires_in",
    "timeoutMs": "timeout",
    "intervalMs": "interval",
    "a function that fetches one": "a function that returns one",
    "the tls options": "the certificates",
    "manager: true": "ChannelManager",
}
_MILLISECONDS = re.compile(r"is (-?[\d.]+): give a number of milliseconds above 0, at most \d+ ")
#: Ids of agents and channels stay as they are, whatever their letters look like.
_ID = r"(?<![\w-])[\w-]{22}(?![\w-])"
_CAMEL = re.compile(rf"{_ID}|\b[a-z]+(?:[A-Z][a-z0-9]*)+\b")


def python_text(text: str) -> str:
    """A text of the SDK with the names that this package has for its options and functions.

    >>> python_text("Cannot use apiKey without apiUrl; or send with { queue: true }")
    'Cannot use api_key without api_url; or send with queue=True'
    >>> python_text(
    ...     "timeoutMs is 0: give a number of milliseconds above 0, at most 604800000 (7 days)"
    ... )
    'timeout is 0: give a number of seconds above 0, at most 7 days'
    >>> python_text("Cannot use apiKey: agent firiFkkudQ-hpsoPoWNwbC has it")
    'Cannot use api_key: agent firiFkkudQ-hpsoPoWNwbC has it'
    """
    for theirs, ours in _PYTHON_NAMES.items():
        text = text.replace(theirs, ours)
    text = _MILLISECONDS.sub(lambda match: f"is {float(match[1]) / 1000:g}: give a number of seconds above 0, at most ", text).replace("at most (7 days)", "at most 7 days")
    return _CAMEL.sub(lambda match: match.group() if re.fullmatch(_ID, match.group()) else python_name(match.group()), text)


def python_name(name: str) -> str:
    """From ``contentType`` to ``content_type``."""
    return re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)


def error_of(fields: Mapping[str, Any]) -> StaticError:
    """The error that a driver tells."""
    code, message = str(fields.get("code", "internal")), python_text(str(fields.get("message", "")))
    after = fields.get("retryAfterMs")
    retryable, retry_after = bool(fields.get("retryable")), None if after is None else after / 1000
    if fields.get("class") == "RemoteError":
        remote_code = str(fields.get("remoteCode", "failed"))
        return RemoteError(str(fields["message"]), remote_code=remote_code, retryable=retryable, retry_after=retry_after)
    made = _CLASSES.get(str(fields.get("class")), InternalError)(
        code,
        message,
        retryable=retryable,
        retry_after=retry_after,
        epoch=fields.get("epoch"),
        channel=fields.get("channel"),
        members=fields.get("members") or (),
    )
    if isinstance(made, RemovedError):
        made.by = fields.get("by")
        made.time = None if fields.get("atMs") is None else fields["atMs"] / 1000
    return made
