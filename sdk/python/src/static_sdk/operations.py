"""The operations of channels and agents, each as steps for blocking and asynchronous callers."""

from __future__ import annotations

import json
from collections import deque
from typing import Any, Deque, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from .agent import Agent
from .errors import InvalidArgumentError, StaticError, TransportError
from .frames import Frame
from .groups import Group, check_sent, message_id
from .frame_connection import Call, Link
from .coroutines import Steps
from .table import RESULT
from .values import Guest, Json, Member, Payload, Sent, message_fields

#: How many messages of one ``send_many`` are under way.
_WINDOW = 32


def content_of(payload: Payload, content_type: Optional[str] = None) -> Tuple[bytes, Optional[str]]:
    """Raises ``TypeError`` for what cannot be sent."""
    if isinstance(payload, bytes):
        return payload, content_type
    if isinstance(payload, Json):
        try:
            body = json.dumps(payload.value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except ValueError as error:
            raise InvalidArgumentError("invalid_request", f"The value cannot be sent as JSON: {error}") from None
        return body, content_type or "application/json"
    if isinstance(payload, str):
        raise TypeError("payload must be bytes, not str: encode it, or wrap a value as Json(...)")
    try:
        return bytes(memoryview(payload)), content_type
    except TypeError:
        raise TypeError(f"payload must be bytes or Json(...), not {type(payload).__name__}") from None


def milliseconds(name: str, seconds: Optional[float]) -> Optional[float]:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{name} must be a number of seconds, not {type(seconds).__name__}")
    if not 0 <= seconds < 1e12:
        raise InvalidArgumentError("invalid_request", f"{name} is {seconds}: give a number of seconds from 0 up, or None")
    return round(seconds * 1000)


def text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"{name} must be str, not {type(value).__name__}")


def data(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        raise TypeError(f"{name} must be bytes, not str")
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"{name} must be bytes, not {type(value).__name__}") from None


def agent_ids(to: Union[None, str, Member, Sequence[Union[str, Member]]]) -> Optional[List[str]]:
    if to is None:
        return None
    each = [to] if isinstance(to, (str, Member)) else list(to)
    return [one.agent_id if isinstance(one, Member) else text("to", one) for one in each]


def agent_of(member: Union[str, Member, Sequence[Union[str, Member]]]) -> str:
    """The id of one, or the first."""
    return (agent_ids(member) or [""])[0]


def replaced(member: Union[None, str, Member]) -> Optional[str]:
    return member.agent_id if isinstance(member, Member) else None if member is None else text("replaces", member)


def guest_of(guest: Union[bool, Guest]) -> Optional[Dict[str, Any]]:
    wanted = Guest() if guest is True else guest
    if not isinstance(wanted, Guest):
        return None
    limits = {"expiresInMs": milliseconds("expires_in", wanted.expires_in), "messages": wanted.messages}
    return {name: value for name, value in limits.items() if value is not None}


def demands(from_: Optional[str], require_issuers: bool, timeout: Optional[float]) -> Dict[str, Any]:
    """The demands of a joiner on the agent that lets it in, and on the channel."""
    return {
        "timeoutMs": milliseconds("timeout", timeout),
        "from": None if from_ is None else text("from_", from_),
        "requireIssuers": True if require_issuers else None,
    }


def joining(name: str, token: str) -> Dict[str, Any]:
    return {"channel": text("name", name), "token": text("token", token)}


def ask(agent: Agent, op: str, **fields: Any) -> Steps[Dict[str, Any]]:
    answer, _ = yield from agent.ask(op, fields)
    return answer  # type: ignore[no-any-return]


def act(agent: Agent, op: str, body: bytes = b"", **fields: Any) -> Steps[Any]:
    """Returns the one value that the operation gives back."""
    answer, brought = yield from agent.ask(op, fields, body)
    if op not in RESULT:
        return None
    name = RESULT[op]
    return brought if name is None else answer[name]


def enter(agent: Agent, op: str, body: bytes = b"", **fields: Any) -> Steps[Dict[str, Any]]:
    """The channel's name and id."""
    link = yield from agent.way.reach()
    try:
        entered, _ = yield from agent.ask(op, fields, body)
    except StaticError as error:
        # A host that died then may have done it.
        if error.code != "name_taken" or op in ("joinOrOpen", "joinLink") or agent.way.link is link:
            raise
        entered, _ = yield from agent.ask("open", {"channel": fields["channel"]})
    return entered  # type: ignore[no-any-return]


def send(agent: Agent, channel: str, payload: Payload, options: Mapping[str, Any]) -> Steps[Optional[Sent]]:
    """With a receipt that is asked for, what is known of the message."""
    body, fields = _message_of(agent, channel, payload, options)
    answer, _ = yield from agent.ask("send", fields, body)
    receipts = answer.get("receipts")
    return None if receipts is None else Sent(answer["id"], receipts)


def send_many(agent: Agent, channel: str, payloads: Iterable[Payload], options: Mapping[str, Any]) -> Steps[None]:
    """In order, some at once. Raises the first error; messages after that one may have been sent."""
    under_way: Deque[_Sending] = deque()
    try:
        for payload in payloads:
            body, fields = _message_of(agent, channel, payload, options)
            link = yield from agent.way.reach()
            # Sends that the previous host did not confirm come first.
            while under_way and under_way[0][1] is not link:
                yield from _sent_first(agent, under_way)
            if not under_way or not under_way[-1][2].add(fields, body):
                under_way.append(_begin(link, Group(channel, agent.way.is_shared), fields, body))
            while sum(len(group) for _, _, group in under_way) >= _WINDOW:
                yield from _sent_first(agent, under_way)
        while under_way:
            yield from _sent_first(agent, under_way)
    except BaseException:
        for call, link, _ in under_way:
            link.tell("cancel", {"call": call.number})
        raise


_Sending = Tuple[Call, Link, Group]


def _begin(link: Link, group: Group, fields: Dict[str, Any], body: bytes) -> _Sending:
    """A link that has ended just now is found out as one that ends a little later."""
    group.add(fields, body)
    try:
        return link.call_later(group.close), link, group
    except TransportError as error:
        failed = Call(0)
        failed.set_exception(error)
        return failed, link, group


def _sent_first(agent: Agent, under_way: Deque[_Sending]) -> Steps[None]:
    """Waits for the first. When the host has gone, all of them are said again in order, before
    anything else is said.
    """
    call, _, group = under_way[0]
    try:
        frame: Frame = yield call
    except StaticError as error:
        under_way.popleft()
        if not agent.way.goes_on(error):
            raise
        op, fields, body = group.close()
        answer, _ = yield from agent.ask(op, {**fields, "again": True}, body)
        check_sent(answer)
        while under_way:
            yield from _sent_first(agent, under_way)
    else:
        under_way.popleft()
        check_sent(frame.header.get("ok", {}))


def send_options(
    to: Any = None,
    content_type: Optional[str] = None,
    reply_to: Optional[str] = None,
    conversation: Optional[str] = None,
    headers: Optional[Mapping[str, str]] = None,
    expires_in: Optional[float] = None,
    queue: bool = False,
    timeout: Optional[float] = None,
    receipt: Optional[str] = None,
) -> Dict[str, Any]:
    return {
        "to": agent_ids(to),
        "contentType": content_type,
        "replyTo": reply_to,
        "conversation": conversation,
        "headers": None if headers is None else dict(headers),
        "expiresInMs": milliseconds("expires_in", expires_in),
        "queue": True if queue else None,
        "timeoutMs": milliseconds("timeout", timeout),
        "receipt": receipt,
    }


def request(agent: Agent, channel: str, payload: Payload, options: Mapping[str, Any]) -> Steps[Dict[str, Any]]:
    body, fields = _sent(channel, payload, options)
    answer, reply = yield from agent.ask("request", fields, body)
    return message_fields(answer["envelope"], reply)


def ask_options(
    content_type: Optional[str],
    conversation: Optional[str],
    headers: Optional[Mapping[str, str]],
    timeout: Optional[float],
    key: Optional[str],
) -> Dict[str, Any]:
    return {
        "contentType": content_type,
        "conversation": conversation,
        "headers": None if headers is None else dict(headers),
        "timeoutMs": milliseconds("timeout", timeout),
        "key": key,
    }


def reading(
    agent: Agent, channel: str, all: bool, ack: str, reader: Optional[str], tail: bool
) -> Dict[str, Any]:
    """How a loop reads."""
    if (reader is not None or tail) and not agent.way.is_shared:
        raise InvalidArgumentError("invalid_request", 'reader and tail need a host: connect with host="auto"')
    name = None if reader is None else text("reader", reader)
    return {"channel": channel, "all": all, "ack": text("ack", ack), "as": name, "tail": True if tail else None}


def receive(agent: Agent, channel: str, timeout: Optional[float]) -> Steps[Optional[Dict[str, Any]]]:
    """The next message's fields, or None. A message for an interrupted call goes to the next one."""
    fields = {"channel": text("name", channel), "timeoutMs": milliseconds("timeout", timeout)}
    leftover = agent.leftover.setdefault(channel, deque())
    while True:
        link = yield from agent.way.reach()
        link.give_back(channel)
        try:
            is_last = len(leftover) == 0
            asked = (link, link.call("receive", fields)) if is_last else leftover.popleft()
            found = yield from _message(leftover, asked)
        except StaticError as error:
            if not agent.way.goes_on(error):
                raise
            continue
        if found is None:
            if is_last:
                return None
        elif agent.is_new(channel, found):
            return found


def _message(leftover: Deque[Tuple[Link, Call]], asked: Tuple[Link, Call]) -> Steps[Optional[Dict[str, Any]]]:
    link, call = asked
    try:
        frame: Frame = yield call
    except StaticError:
        raise
    except BaseException:
        link.tell("cancel", {"call": call.number})
        leftover.append(asked)
        raise
    answer = frame.header.get("ok", {})
    return message_fields(answer["envelope"], frame.body) if "envelope" in answer else None


def _message_of(
    agent: Agent, channel: str, payload: Payload, options: Mapping[str, Any]
) -> Tuple[bytes, Dict[str, Any]]:
    """With an id where the next host may have to be told of it again: the relay takes it once."""
    body, fields = _sent(channel, payload, options)
    return body, {**fields, "message": message_id()} if agent.way.is_shared else fields


def _sent(channel: str, payload: Payload, options: Mapping[str, Any]) -> Tuple[bytes, Dict[str, Any]]:
    body, content_type = content_of(payload, options["contentType"])
    return body, {"channel": channel, **options, "contentType": content_type}
