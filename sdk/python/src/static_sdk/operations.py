"""The operations of channels and agents, each as steps for blocking and asynchronous callers."""

from __future__ import annotations

import json
from collections import deque
from typing import Any, Deque, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from .agent import Agent
from .errors import InvalidArgumentError, StaticError, TransportError
from .frames import Frame
from .groups import Group, check_sent, message_id
from .link import Call, Link
from .steps import Steps
from .values import (
    Guest,
    Health,
    Invite,
    Json,
    Member,
    Payload,
    Policy,
    RecoveryPreview,
    health_of,
    invite_of,
    member_of,
    message_fields,
    preview_of,
)

Members = Sequence[Union[str, Member]]

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


def state(agent: Agent) -> Steps[Dict[str, Any]]:
    fields, _ = yield from agent.ask("agent")
    return fields  # type: ignore[no-any-return]


def enter(agent: Agent, op: str, name: str, receive: bool) -> Steps[str]:
    """Creates or opens; returns the channel's id."""
    answer, _ = yield from agent.ask(op, {"channel": text("name", name), "receive": receive})
    return answer["id"]  # type: ignore[no-any-return]


def join(agent: Agent, name: str, welcome: Optional[bytes], receive: bool) -> Steps[str]:
    """By this Welcome, or by the one that the relay delivers."""
    fields = {"channel": text("name", name), "receive": receive, "delivered": welcome is None}
    answer, _ = yield from agent.ask("join", fields, b"" if welcome is None else data("welcome", welcome))
    return answer["id"]  # type: ignore[no-any-return]


def number(agent: Agent, channel: Optional[str] = None, agent_id: Union[None, str, Member] = None) -> Steps[str]:
    ids = agent_ids(agent_id)
    given = {} if ids is None else {"channel": channel, "agentId": ids[0]}
    fields, _ = yield from agent.ask("number", given)
    return fields["number"]  # type: ignore[no-any-return]


def key_package(agent: Agent) -> Steps[bytes]:
    _, body = yield from agent.ask("keyPackage")
    return body  # type: ignore[no-any-return]


def replaced(member: Union[None, str, Member]) -> Optional[str]:
    return member.agent_id if isinstance(member, Member) else None if member is None else text("replaces", member)


def add_member(
    agent: Agent, channel: str, key_package: Union[bytes, str], replaces: Union[None, str, Member]
) -> Steps[bytes]:
    fields = {"channel": channel, "replaces": replaced(replaces)}
    if isinstance(key_package, str):
        _, body = yield from agent.ask("addMember", {**fields, "agentId": key_package})
    else:
        _, body = yield from agent.ask("addMember", fields, data("key_package", key_package))
    return body  # type: ignore[no-any-return]


def act(agent: Agent, op: str, channel: str, **fields: Any) -> Steps[None]:
    """An operation on a channel that returns nothing."""
    yield from agent.ask(op, {"channel": channel, **fields})


def lists(without: Optional[Members], keep: Optional[Members]) -> Dict[str, Any]:
    return {"without": agent_ids(without), "keep": agent_ids(keep)}


def preview_recovery(agent: Agent, channel: str, without: Optional[Members], keep: Optional[Members]) -> Steps[RecoveryPreview]:
    answer, _ = yield from agent.ask("previewRecovery", {"channel": channel, **lists(without, keep)})
    return preview_of(answer["preview"])


def members(agent: Agent, channel: str) -> Steps[List[Member]]:
    answer, _ = yield from agent.ask("members", {"channel": channel})
    return [member_of(each) for each in answer["members"]]


def wait_for_member(
    agent: Agent, channel: str, member: Union[None, str, Member], timeout: Optional[float]
) -> Steps[Optional[Member]]:
    named = agent_ids(member)
    fields = {"channel": channel, "member": named and named[0], "timeoutMs": milliseconds("timeout", timeout)}
    answer, _ = yield from agent.ask("waitForMember", fields)
    return None if answer.get("none") else member_of(answer["member"])


def fingerprint(agent: Agent, channel: str) -> Steps[str]:
    answer, _ = yield from agent.ask("fingerprint", {"channel": channel})
    return answer["fingerprint"]  # type: ignore[no-any-return]


def policy(agent: Agent, channel: str) -> Steps[Policy]:
    answer, _ = yield from agent.ask("policy", {"channel": channel})
    return Policy(answer["policy"]["admission"], answer["policy"]["posting"])


def health(agent: Agent, channel: str) -> Steps[Health]:
    answer, _ = yield from agent.ask("health", {"channel": text("name", channel)})
    return health_of(answer["health"])


def send(agent: Agent, channel: str, payload: Payload, options: Mapping[str, Any]) -> Steps[None]:
    body, fields = _message_of(agent, channel, payload, options)
    yield from agent.ask("send", fields, body)


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
    """Waits for the first. When the host has gone, all of them are said again in order, before anything else is said."""
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


def invite(
    agent: Agent,
    channel: str,
    expires_in: Optional[float],
    uses: Optional[int],
    replaces: Union[None, str, Member],
) -> Steps[str]:
    fields = {
        "channel": text("name", channel),
        "expiresInMs": milliseconds("expires_in", expires_in),
        "uses": uses,
        "replaces": replaced(replaces),
    }
    answer, _ = yield from agent.ask("invite", fields)
    return answer["token"]  # type: ignore[no-any-return]


def invite_link(
    agent: Agent,
    channel: str,
    expires_in: Optional[float],
    uses: Optional[int],
    guest: Union[bool, Guest],
    web: bool,
) -> Steps[str]:
    wanted = Guest() if guest is True else guest
    passed = (
        {"expiresInMs": milliseconds("expires_in", wanted.expires_in), "messages": wanted.messages}
        if isinstance(wanted, Guest)
        else None
    )
    fields = {
        "channel": text("name", channel),
        "expiresInMs": milliseconds("expires_in", expires_in),
        "uses": uses,
        "guest": None if passed is None else {name: value for name, value in passed.items() if value is not None},
        "web": web,
    }
    answer, _ = yield from agent.ask("inviteLink", fields)
    return answer["link"]  # type: ignore[no-any-return]


def invites(agent: Agent, channel: Optional[str]) -> Steps[List[Invite]]:
    answer, _ = yield from agent.ask("invites", {"channel": channel})
    return [invite_of(each) for each in answer["invites"]]


def revoke_invite(agent: Agent, token: str) -> Steps[None]:
    yield from agent.ask("revokeInvite", {"token": text("token", token)})


def join_by_token(agent: Agent, op: str, channel: str, token: str, timeout: Optional[float]) -> Steps[str]:
    fields = {"channel": text("name", channel), "token": text("token", token), "timeoutMs": milliseconds("timeout", timeout)}
    answer, _ = yield from agent.ask(op, fields)
    return answer["id"]  # type: ignore[no-any-return]


def _message_of(
    agent: Agent, channel: str, payload: Payload, options: Mapping[str, Any]
) -> Tuple[bytes, Dict[str, Any]]:
    """With an id where the next host may have to be told of it again: the relay takes it once."""
    body, fields = _sent(channel, payload, options)
    return body, {**fields, "message": message_id()} if agent.way.is_shared else fields


def join_link(agent: Agent, link: str, timeout: Optional[float]) -> Steps[Tuple[str, str]]:
    """The channel's name and id."""
    answer, _ = yield from agent.ask("joinLink", {"link": text("link", link), "timeoutMs": milliseconds("timeout", timeout)})
    return answer["name"], answer["id"]


def _sent(channel: str, payload: Payload, options: Mapping[str, Any]) -> Tuple[bytes, Dict[str, Any]]:
    body, content_type = content_of(payload, options["contentType"])
    return body, {"channel": channel, **options, "contentType": content_type}
