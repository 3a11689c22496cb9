"""The values of channels: messages, members, health, events. Times are seconds since 1970,
durations are seconds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

from .errors import ChannelError, StaticError, error_of, python_name, python_text


@dataclass(frozen=True)
class Json:
    """A value to be sent as JSON.

    >>> Json({"disk": "full"})
    Json(value={'disk': 'full'})
    """

    value: Any


#: What can be sent.
Payload = Union[bytes, bytearray, memoryview, Json]


@dataclass(frozen=True)
class Attested:
    """An issuer's word about an agent, by a badge that you believe (``static trust add``)."""

    #: The domain that vouches for the agent; with ``mailbox`` that of a verified e-mail address.
    domain: str
    #: The name that the issuer gave it.
    name: str
    #: When the badge ends.
    until: float
    #: ``domain``: by the domain itself; ``mailbox``: by your service, for a mailbox at the domain.
    how: str


@dataclass(frozen=True)
class Member:
    """Somebody in a channel."""

    #: How the relay and other agents name it.
    agent_id: str
    #: What it calls itself: a claim that nobody has checked.
    identity: bytes
    #: Owners may remove others.
    owner: bool
    #: This agent.
    self: bool
    #: Whether it is the same agent as before under this identity.
    key_unchanged: bool = True
    #: The name that you gave it with ``static trust name``; None for others.
    known_as: Optional[str] = None
    #: It came by a guest link and lets nobody in, until an owner makes it a member like the others.
    guest: bool = False
    #: The word of an issuer that you believe, by a badge that is in time; None for others.
    attested: Optional[Attested] = None
    #: The word that the issuer gave, when its badge is over.
    badge_expired: Optional[Attested] = None
    #: The agent belongs to the account of this agent, by a badge of their service.
    same_account: bool = False
    #: When the badge ends with which it is in a channel that requires badges; None in others.
    badge_ends: Optional[float] = None
    #: Its program has post-quantum keys, as its leaf says.
    post_quantum: bool = False


@dataclass(frozen=True)
class Policy:
    """The rights in a channel, each for ``"members"`` or ``"owners"``."""

    #: Who lets agents in, and invites them.
    admission: str
    #: Whose messages are shown; the others listen.
    posting: str


@dataclass(frozen=True)
class Issuer:
    """A key whose badges let agents into a channel. Give one of ``account`` and ``mail_domain``, or
    none.
    """

    #: Its domain, in lower case.
    domain: str
    #: Its Ed25519 key: base64url, as ``x`` in the issuer's document.
    key: str
    #: Nobody comes in by it any more; members that have a badge of it stay.
    closed: bool = False
    #: Only agents of this account: of badges of a service.
    account: Optional[str] = None
    #: Only agents of accounts whose verified e-mail address is of this domain.
    mail_domain: Optional[str] = None


@dataclass(frozen=True)
class Message:
    """A decrypted message with what is known about it."""

    #: What was sent.
    payload: bytes
    #: The sender's agent id, authenticated.
    sender: str
    #: What the sender calls itself: a claim that nobody has checked.
    identity: bytes
    #: Chosen by the sender, authenticated.
    id: str
    #: When the relay accepted it, by the relay's clock and word.
    time: float
    #: ``message``, or with ``all=True`` also ``request``, ``reply`` and ``error``.
    kind: str = "message"
    #: The media type; None when the sender gave bytes without one.
    content_type: Optional[str] = None
    #: The agents that it is for; None for all.
    to: Optional[Tuple[str, ...]] = None
    #: The message that it answers.
    reply_to: Optional[str] = None
    #: What it belongs to, in the sender's words.
    conversation: Optional[str] = None
    #: When it expires, by the relay's clock.
    expires_at: Optional[float] = None
    #: Whatever else the sender says about it.
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Whether it is the same agent as before under this identity; False only with ``all=True``.
    key_unchanged: bool = True
    #: The name that you gave the sender with ``static trust name``; None for others.
    known_as: Optional[str] = None
    #: The word of an issuer that you believe, by a badge that is in time; None for others.
    attested: Optional[Attested] = None
    #: The word that the issuer gave, when its badge is over.
    badge_expired: Optional[Attested] = None
    #: The sender belongs to the account of this agent, by a badge of their service.
    same_account: bool = False
    #: The sender wants to learn what becomes of it: ``delivered``, or ``done`` as well; None when it does not ask.
    receipt: Optional[str] = None

    def text(self) -> str:
        """The payload as text. Raises ``content_invalid`` when it is not UTF-8."""
        try:
            return self.payload.decode("utf-8")
        except UnicodeDecodeError:
            raise self._invalid("it is not text") from None

    def json(self) -> Any:
        """The payload as JSON. Raises ``content_invalid`` when it is not."""
        try:
            return json.loads(self.payload)
        except (ValueError, RecursionError):
            raise self._invalid("it is not JSON") from None

    def _invalid(self, why: str) -> StaticError:
        return ChannelError("content_invalid", f"Cannot read message {self.id} of {self.sender}: {why}")


@dataclass(frozen=True)
class Request(Message):
    """A request as its handler gets it."""

    #: 1 for the first. Above it, an earlier attempt was begun, and may have had effects, before this agent was stopped.
    attempt: int = 1
    #: When the requester stops waiting, by the relay's clock.
    deadline: float = 0.0
    _is_over: Callable[[], bool] = field(default=lambda: False, repr=False, compare=False)

    @property
    def over(self) -> bool:
        """Nobody waits for the reply any more."""
        return self._is_over()


@dataclass(frozen=True)
class Sent:
    """A message that asks for receipts, as it was sent."""

    #: The message's id, for ``receipts_of``.
    id: str
    #: ``asked``, or ``unsupported`` while a member of the channel runs a version without receipts.
    receipts: str


@dataclass(frozen=True)
class Receipt:
    """An agent that a message was for, and what became of the message there."""

    #: The agent that says it.
    agent_id: str
    #: ``delivered``, ``held``, ``refused`` or ``done``; None when nothing was heard.
    state: Optional[str]
    #: When this agent heard it, by the local clock.
    time: Optional[float]


@dataclass(frozen=True)
class Presence:
    """Whether a member is there: as the relay says, and, apart from it, as this agent has heard."""

    #: The member.
    agent_id: str
    #: Whether it has a connection to the relay now, as the relay says, which may say anything; None
    #: when the relay cannot be asked, or says nothing of it.
    online: Optional[bool]
    #: When this agent last verified a signature of the member, by the local clock.
    last_heard: Optional[float]


@dataclass(frozen=True)
class Counted:
    """Messages of one sender."""

    sender: str
    messages: int


@dataclass(frozen=True)
class Issue:
    """One trouble, and how often it was seen. Troubles of one kind that concern several agents are
    several.
    """

    kind: str
    #: The latest words about it.
    text: str
    #: How often since the channel was opened.
    count: int
    #: When it was seen first and last, by the local clock.
    first_time: float
    last_time: float


@dataclass(frozen=True)
class PostQuantum:
    """Whether recordings of a channel stay closed to outsiders, also for a later quantum computer.

    It does not protect against somebody who was a member.
    """

    #: ``all``, ``partly`` (until an agent without a post-quantum key came in) or ``none``.
    state: str
    #: With ``all`` and ``partly``: the first epoch from which it is so, 0 since the channel was made.
    since: Optional[int] = None
    #: With ``all``: whether nobody comes in without such keys. Otherwise a member can let one in, which ends it.
    required: Optional[bool] = None
    #: With ``partly``: the first epoch that may be open.
    until: Optional[int] = None
    #: With ``partly``: when this agent learned of it, by the local clock.
    learned_time: Optional[float] = None
    #: With ``partly``: the agent without a key, and the member that let it in, if they are known.
    because: Optional[str] = None
    by: Optional[str] = None


@dataclass(frozen=True)
class Health:
    """The state of a channel: its troubles, and what is being done about them."""

    #: ``ok``, ``offline``, ``catching_up``, ``rejoining``, ``stopped`` or ``ended``.
    state: str
    #: How many times the channel's members have changed, as far as this agent knows.
    epoch: int
    #: In words; None while all is well.
    problem: Optional[str] = None
    #: What is being done, or what to do.
    action: Optional[str] = None
    #: The channel is stopped, and ``recover()`` can be called now.
    recoverable: bool = False
    #: Messages that have arrived and would come again after a crash.
    unread: int = 0
    #: Messages that the relay has not accepted yet.
    unsent: int = 0
    #: Messages that their senders have counted and that never arrived.
    missing: Tuple[Counted, ...] = ()
    #: Messages that could not be read since the channel was opened.
    unreadable: Tuple[Counted, ...] = ()
    #: Everything that went wrong since the channel was opened, the latest first.
    issues: Tuple[Issue, ...] = ()
    post_quantum: PostQuantum = PostQuantum("none")


@dataclass(frozen=True)
class LeftOut:
    """A member that a recovery would leave out."""

    agent_id: str
    #: The name that it chose for itself; empty if this agent has never met it.
    identity: str
    #: ``blamed``: it sent the commit. ``let_in``: it came in through that one within a day. ``same_door``: an agent that came by the
    #: same door stopped the channel within the day before. ``named``: it is out by a list alone.
    because: str
    #: The agent id of the member that let it in, if this agent knows.
    let_in_by: Optional[str] = None
    #: When this agent learned of it, by its own clock; None for those that were here before.
    seen_time: Optional[float] = None


@dataclass(frozen=True)
class RecoveryPreview:
    """The outcome of ``recover()``, before it is called."""

    #: The agent id of the sender of the commit at which the channel is stopped.
    blamed: str
    #: How many members the channel has now.
    members: int
    #: The blamed one first, then the newest.
    left_out: Tuple[LeftOut, ...]
    #: ``recover()`` without lists is refused: say who goes.
    choice_needed: bool


@dataclass(frozen=True)
class Invite:
    """An invite that this agent has given out, without its secret."""

    #: By which it can be revoked; no secret.
    id: str
    channel: str
    #: When it ends, by the relay's clock.
    expires_at: float
    #: How many agents may join with it, and how many have.
    uses: int
    used: int


@dataclass(frozen=True)
class Guest:
    """Limits for an agent without an account, which uses the inviter's account."""

    #: How many seconds its pass is good: at most 30 days, a week when not given.
    expires_in: Optional[float] = None
    #: How many messages a month it may send; 1,000 when not given.
    messages: Optional[int] = None


@dataclass(frozen=True)
class Event:
    """Something that happened to the agent or in one of its channels."""

    #: As in ``member_joined``; docs/messages.md lists them.
    type: str
    #: By the local clock.
    time: float
    #: None when it is about the connection or the account.
    channel: Optional[str]
    #: What else there is to say, by name.
    details: Mapping[str, Any]


def message_fields(envelope: Mapping[str, Any], body: bytes) -> Dict[str, Any]:
    """The fields of a ``Message``."""
    sender = envelope["sender"]
    to, expires = envelope.get("to"), envelope.get("expiresAtMs")
    return {
        "payload": body,
        "sender": sender["agentId"],
        "identity": _identity(sender),
        "id": envelope["id"],
        "time": envelope["timeMs"] / 1000,
        "kind": envelope["kind"],
        "content_type": envelope.get("contentType"),
        "to": None if to is None else tuple(to),
        "reply_to": envelope.get("replyTo"),
        "conversation": envelope.get("conversation"),
        "expires_at": None if expires is None else expires / 1000,
        "headers": envelope.get("headers", {}),
        "key_unchanged": sender["keyUnchanged"],
        **_recognition(sender),
        "receipt": envelope.get("receipt"),
    }


def _recognition(agent: Mapping[str, Any]) -> Dict[str, Any]:
    return {
        "known_as": agent.get("knownAs"),
        "attested": _attested(agent.get("attested")),
        "badge_expired": _attested(agent.get("badgeExpired")),
        "same_account": agent.get("sameAccount", False),
    }


def _attested(word: Optional[Mapping[str, Any]]) -> Optional[Attested]:
    return None if word is None else Attested(word["domain"], word["name"], word["untilMs"] / 1000, word["how"])


def receipt_of(receipt: Mapping[str, Any]) -> Receipt:
    at_ms = receipt.get("atMs")
    return Receipt(receipt["agentId"], receipt.get("state"), None if at_ms is None else at_ms / 1000)


def presence_of(presence: Mapping[str, Any]) -> Presence:
    heard_ms = presence.get("lastHeardMs")
    return Presence(presence["agentId"], presence.get("online"), None if heard_ms is None else heard_ms / 1000)


def preview_of(preview: Mapping[str, Any]) -> RecoveryPreview:
    left_out = tuple(
        LeftOut(
            agent_id=each["agentId"],
            identity=each["identity"],
            because=each["because"],
            let_in_by=each.get("letInBy"),
            seen_time=None if each.get("seenMs") is None else each["seenMs"] / 1000,
        )
        for each in preview["leftOut"]
    )
    return RecoveryPreview(preview["blamed"], preview["members"], left_out, preview["choiceNeeded"])


def member_of(member: Mapping[str, Any]) -> Member:
    return Member(
        agent_id=member["agentId"],
        identity=_identity(member),
        owner=member["owner"],
        self=member["self"],
        key_unchanged=member["keyUnchanged"],
        guest=member["guest"],
        **_recognition(member),
        badge_ends=None if member.get("badgeEndsMs") is None else member["badgeEndsMs"] / 1000,
        post_quantum=member["postQuantum"],
    )


def health_of(health: Mapping[str, Any]) -> Health:
    problem, action = health.get("problem"), health.get("action")
    return Health(
        state=health["state"],
        epoch=health["epoch"],
        problem=None if problem is None else python_text(problem),
        action=None if action is None else python_text(action),
        recoverable=bool(health.get("recoverable")),
        unread=health["unread"],
        unsent=health["unsent"],
        missing=tuple(Counted(each["sender"], each["messages"]) for each in health["missing"]),
        unreadable=tuple(Counted(each["sender"], each["messages"]) for each in health["unreadable"]),
        issues=tuple(issue_of(each) for each in health["issues"]),
        post_quantum=post_quantum_of(health["postQuantum"]),
    )


def post_quantum_of(found: Mapping[str, Any]) -> PostQuantum:
    learned = found.get("learnedMs")
    return PostQuantum(
        state=found["state"],
        since=found.get("since"),
        required=found.get("required"),
        until=found.get("until"),
        learned_time=None if learned is None else learned / 1000,
        because=found.get("because"),
        by=found.get("by"),
    )


def issue_of(issue: Mapping[str, Any]) -> Issue:
    first, last = issue["firstAtMs"] / 1000, issue["lastAtMs"] / 1000
    return Issue(issue["kind"], python_text(issue["text"]), issue["count"], first, last)


def invite_of(invite: Mapping[str, Any]) -> Invite:
    return Invite(invite["id"], invite["channel"], invite["expiresAtMs"] / 1000, invite["uses"], invite["used"])


def issuer_of(issuer: Mapping[str, Any]) -> Issuer:
    closed = issuer.get("closed", False)
    return Issuer(issuer["domain"], issuer["key"], closed, issuer.get("account"), issuer.get("mailDomain"))


def issuer_fields(issuer: Issuer) -> Dict[str, Any]:
    if not isinstance(issuer, Issuer):
        raise TypeError(f"an issuer must be Issuer(...), not {type(issuer).__name__}")
    fields: Dict[str, Any] = {"domain": issuer.domain, "key": issuer.key, "closed": issuer.closed}
    only = {"account": issuer.account, "mailDomain": issuer.mail_domain}
    return {**fields, **{name: value for name, value in only.items() if value is not None}}


def event_of(event: Mapping[str, Any]) -> Event:
    own = ("type", "channel", "atMs")
    details = {name: value for key, value in event.items() if key not in own for name, value in [_detail(key, value)]}
    return Event(event["type"], event.get("atMs", 0) / 1000, event.get("channel"), details)


def _detail(key: str, value: Any) -> Tuple[str, Any]:
    if key == "error" and isinstance(value, dict):
        return key, error_of(value)
    if key == "issue":
        return key, issue_of(value)
    if key.endswith("Ms"):
        return python_name(key[:-2]), value / 1000
    if isinstance(value, dict):
        return python_name(key), dict(_detail(name, each) for name, each in value.items())
    return python_name(key), value


def _identity(named: Mapping[str, Any]) -> bytes:
    """Bytes that are no text come in hexadecimal."""
    text = named.get("identityHex")
    return str(named["identity"]).encode() if text is None else bytes.fromhex(text)
