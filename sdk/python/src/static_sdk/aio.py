"""The same for asyncio: ``await StaticClient.connect(...)``, ``async with``, ``async for``.

Cancelling a call is an interrupt: an operation is given up, and a message that arrives for an interrupted ``receive`` or loop
goes to the next one. Objects belong to the event loop in which they are used. Long because it has every name of the package once
more.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from types import TracebackType
from typing import (
    Awaitable,
    Callable,
    ClassVar,
    Generic,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Type,
    TypeVar,
    Union,
)

from . import operations, serving
from .agent import Agent, NotCopied
from .connecting import Token, check_options, connect
from .errors import StaticError, error_of
from .loops import payload_of
from .steps import run_async
from .streams import Item, Stream
from .values import (
    Event,
    Guest,
    Health,
    Invite,
    Member,
    Message,
    Payload,
    Policy,
    RecoveryPreview,
    Request,
    event_of,
    message_fields,
)

__all__ = ["Answer", "Channel", "ChannelManager", "Envelope", "Loop", "Serving", "StaticClient"]

T = TypeVar("T")
_Self = TypeVar("_Self", bound="_Connected")
_To = Union[None, str, Member, Sequence[Union[str, Member]]]
Handler = Callable[[Request], Union[Payload, Awaitable[Payload]]]


@dataclass(frozen=True)
class Envelope(Message):
    """A decrypted message with what is known about it."""

    _ack: Optional[Callable[[], Awaitable[None]]] = field(default=None, repr=False, compare=False)

    async def ack(self) -> None:
        """With ``ack="manual"``: this message is done with. Returns when that is on disk. Otherwise it does nothing.

        Without a host, only once every other loop of the channel is past it, too: until then it may come again.
        """
        if self._ack is not None:
            await self._ack()


@dataclass(frozen=True)
class Answer:
    """The result of a request for one member: a reply, or the error that ``request`` would raise."""

    sender: str
    reply: Optional[Envelope]
    error: Optional[StaticError]


class Loop(NotCopied, Generic[T]):
    """An asynchronous iterator over a stream; see ``static_sdk.Loop``."""

    def __init__(self, stream: Stream, decode: Callable[[Item], T]) -> None:
        self._stream = stream
        self._decode = decode
        self._turn: Optional[asyncio.Lock] = None

    def __aiter__(self) -> "Loop[T]":
        return self

    async def __anext__(self) -> T:
        if self._turn is None:
            self._turn = asyncio.Lock()  # here, because before Python 3.10 it belongs to the loop in which it is made
        async with self._turn:
            item = await run_async(self._stream.next())
        if item is None:
            raise StopAsyncIteration
        return self._decode(item)

    async def finish(self) -> None:
        """Marks all items given as processed, the last one included, but none with ``ack="manual"``; then ends the loop."""
        await run_async(self._stream.end(finish=True))

    async def aclose(self) -> None:
        """Ends the loop. Its last message comes again."""
        await run_async(self._stream.end(finish=False))

    async def __aenter__(self) -> "Loop[T]":
        """Opens it at once; without ``async with`` the first question does."""
        await run_async(self._stream.open())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Serving(NotCopied):
    """Requests that are being handled; ends by ``stop()`` or with the channel."""

    def __init__(self, stream: Stream, handler: Handler) -> None:
        self._stream = stream
        self._handler = handler
        self._running: Set["asyncio.Task[None]"] = set()
        self._task = asyncio.ensure_future(self._serve())

    async def stop(self) -> None:
        """Takes no more requests, and waits for those that were begun."""
        await run_async(self._stream.end(finish=False))
        await self.wait()

    async def wait(self) -> None:
        """Waits until the last request is handled."""
        await asyncio.wait([self._task])
        if self._running:
            await asyncio.wait(list(self._running))

    async def __aenter__(self) -> "Serving":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _serve(self) -> None:
        while True:
            try:
                item = await run_async(self._stream.next())
            except StaticError as error:
                serving.log.warning("Serving has ended: %s", error)
                return
            if item is None:
                return
            task = asyncio.ensure_future(self._handle(item))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _handle(self, item: Item) -> None:
        request, done = serving.begin(item)
        try:
            handled = self._handler(request)
            if isinstance(handled, Awaitable):
                handled = await handled
            answer = serving.reply_of(handled)
        except Exception as error:
            answer = serving.failure_of(error, request)
        await run_async(serving.settle(self._stream, item, answer, done))


class Channel(NotCopied):
    """An end-to-end encrypted channel; see ``static_sdk.Channel``."""

    def __init__(self, agent: Agent, name: str, channel_id: str) -> None:
        self._agent = agent
        self._name = name
        self._id = channel_id

    @property
    def name(self) -> str:
        """``org/namespace/service``."""
        return self._name

    @property
    def id(self) -> str:
        """The relay's name for it: the MLS group id."""
        return self._id

    def __repr__(self) -> str:
        return f"<Channel {self._name}>"

    async def add_member(self, key_package: Union[bytes, str], *, replaces: Union[None, str, Member] = None) -> bytes:
        """Adds an agent; returns the Welcome."""
        return await run_async(operations.add_member(self._agent, self._name, key_package, replaces))

    async def remove_member(self, member: Union[str, Member]) -> None:
        """Removes a member; only owners may."""
        ids = operations.agent_ids(member) or [""]
        await run_async(operations.act(self._agent, "removeMember", self._name, agentId=ids[0]))

    async def recover(
        self,
        *,
        without: Optional[Sequence[Union[str, Member]]] = None,
        keep: Optional[Sequence[Union[str, Member]]] = None,
    ) -> None:
        """Begins the channel anew when a member's commit has stopped it; see ``health().recoverable``.

        Its sender is out, and those that it let in within a day. When an owner must say who goes, it raises ``choice_needed``,
        with them in ``members``: then give ``without`` (exactly these; ``[]`` for nobody else) or ``keep`` (those but these).
        """
        await run_async(operations.act(self._agent, "recover", self._name, **operations.lists(without, keep)))

    async def preview_recovery(
        self,
        *,
        without: Optional[Sequence[Union[str, Member]]] = None,
        keep: Optional[Sequence[Union[str, Member]]] = None,
    ) -> RecoveryPreview:
        """Whom ``recover()`` with the same lists would leave out now, and why."""
        return await run_async(operations.preview_recovery(self._agent, self._name, without, keep))

    async def promote(self, member: Union[str, Member], *, to: str = "owner") -> None:
        """Makes a member an owner, or with ``to="member"`` a guest a member like the others; only owners may."""
        ids = operations.agent_ids(member) or [""]
        await run_async(operations.act(self._agent, "promote", self._name, agentId=ids[0], to=to))

    async def demote(self, member: Union[str, Member]) -> None:
        """Makes an owner a member like the others; only owners may."""
        ids = operations.agent_ids(member) or [""]
        await run_async(operations.act(self._agent, "demote", self._name, agentId=ids[0]))

    async def policy(self) -> Policy:
        """The channel's policy: who may add agents, and who may send."""
        return await run_async(operations.policy(self._agent, self._name))

    async def set_policy(self, *, admission: Optional[str] = None, posting: Optional[str] = None) -> None:
        """Changes the policy; only owners may."""
        await run_async(operations.act(self._agent, "setPolicy", self._name, admission=admission, posting=posting))

    async def rotate(self) -> None:
        """Changes this agent's keys now: a copy of the keys from before cannot read what comes."""
        await run_async(operations.act(self._agent, "rotate", self._name))

    async def leave(self, *, successor: Union[None, str, Member] = None) -> None:
        """Leaves the channel and deletes its keys here; ``successor`` owns it then."""
        ids = operations.agent_ids(successor)
        await run_async(operations.act(self._agent, "leave", self._name, successor=None if ids is None else ids[0]))

    async def send(
        self,
        payload: Payload,
        *,
        to: _To = None,
        content_type: Optional[str] = None,
        reply_to: Optional[str] = None,
        conversation: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        expires_in: Optional[float] = None,
        queue: bool = False,
        timeout: Optional[float] = None,
    ) -> None:
        """Sends a message. Returns when the relay has accepted it."""
        options = operations.send_options(to, content_type, reply_to, conversation, headers, expires_in, queue, timeout)
        await run_async(operations.send(self._agent, self._name, payload, options))

    async def send_many(self, payloads: Iterable[Payload]) -> None:
        """Sends many messages in order, some of them at once."""
        await run_async(operations.send_many(self._agent, self._name, payloads, operations.send_options()))

    def messages(self) -> Loop[bytes]:
        """The messages of the others, decrypted, in order."""
        return Loop(Stream(self._agent, "read", {"channel": self._name}), payload_of)

    def envelopes(
        self, *, all: bool = False, ack: str = "auto", reader: Optional[str] = None, tail: bool = False
    ) -> Loop[Envelope]:
        """Like ``messages``, with who sent each message and what it says about itself."""
        stream = Stream(self._agent, "read", operations.reading(self._agent, self._name, all, ack, reader, tail))
        return Loop(stream, _envelope_with(stream, ack == "manual"))

    async def receive(self, timeout: Optional[float] = None) -> Optional[bytes]:
        """The next message, or None when none arrives within ``timeout`` seconds."""
        envelope = await self.receive_envelope(timeout)
        return None if envelope is None else envelope.payload

    async def receive_envelope(self, timeout: Optional[float] = None) -> Optional[Envelope]:
        """Like ``receive``, with who sent the message."""
        fields = await run_async(operations.receive(self._agent, self._name, timeout))
        return None if fields is None else Envelope(**fields)

    async def request(
        self,
        payload: Payload,
        *,
        to: Union[str, Member],
        timeout: Optional[float] = None,
        content_type: Optional[str] = None,
        conversation: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        key: Optional[str] = None,
    ) -> Envelope:
        """Asks a member and returns its reply."""
        ids = operations.agent_ids(to) or [""]
        options = {**operations.ask_options(content_type, conversation, headers, timeout, key), "to": ids[0]}
        return Envelope(**await run_async(operations.request(self._agent, self._name, payload, options)))

    def request_all(
        self,
        payload: Payload,
        *,
        to: Sequence[Union[str, Member]],
        timeout: Optional[float] = None,
        content_type: Optional[str] = None,
        conversation: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        key: Optional[str] = None,
    ) -> Loop[Answer]:
        """Asks several members. Yields one answer for each of them, as they come."""
        options = operations.ask_options(content_type, conversation, headers, timeout, key)
        body, content = operations.content_of(payload, content_type)
        fields = {**options, "channel": self._name, "contentType": content, "to": operations.agent_ids(to)}
        return Loop(Stream(self._agent, "requestAll", fields, body), _answer_of)

    async def serve(self, handler: Handler, *, concurrency: int = 16) -> Serving:
        """Handles the requests of others from now on, each in a task. The handler may be a coroutine function."""
        stream = Stream(self._agent, "serve", {"channel": self._name, "concurrency": concurrency})
        await run_async(stream.open())
        return Serving(stream, handler)

    def events(self) -> Loop[Event]:
        """Iterates over the events of the channel and its connection, from ``async with`` or the first item on."""
        return Loop(Stream(self._agent, "events", {"channel": self._name}), lambda item: event_of(item.fields["event"]))

    async def members(self) -> List[Member]:
        """The members, as this agent's MLS state has them."""
        return await run_async(operations.members(self._agent, self._name))

    async def wait_for_member(
        self, member: Union[None, str, Member] = None, timeout: Optional[float] = None
    ) -> Optional[Member]:
        """Waits until a member is there that can be asked, or None; without a member, the next one that comes."""
        return await run_async(operations.wait_for_member(self._agent, self._name, member, timeout))

    async def number_of(self, agent: Union[str, Member]) -> str:
        """40 digits of a member, the same in all its channels. Compare them before you name it."""
        return await run_async(operations.number(self._agent, self._name, agent))

    async def fingerprint(self) -> str:
        """40 digits that are the same for all members at the same epoch, and for nobody else."""
        return await run_async(operations.fingerprint(self._agent, self._name))

    async def health(self) -> Health:
        """Returns the channel's troubles, and what is being done about them."""
        return await run_async(operations.health(self._agent, self._name))


class _Connected(NotCopied):
    _manager: ClassVar[bool] = False

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    @classmethod
    async def connect(
        cls: Type[_Self],
        endpoint: Optional[str],
        data_dir: Union[str, "os.PathLike[str]"],
        identity: Union[bytes, bytearray, memoryview],
        api_key: Optional[str] = None,
        api_url: Optional[str] = None,
        *,
        passphrase: Optional[str] = None,
        token: Optional[Token] = None,
        ca_file: Union[None, str, "os.PathLike[str]"] = None,
        ca_certs: Optional[Sequence[str]] = None,
        certificate_hashes: Optional[Sequence[str]] = None,
        transport: Optional[str] = None,
        cover: Optional[str] = None,
        repair: bool = False,
        damaged: Optional[str] = None,
        runtime: Union[None, str, "os.PathLike[str]"] = None,
        host: Optional[str] = None,
        link: Optional[str] = None,
    ) -> _Self:
        """Connects and authenticates; the arguments are those of ``static_sdk.StaticClient``."""
        given = {
            "passphrase": passphrase,
            "token": token,
            "ca_file": ca_file,
            "ca_certs": ca_certs,
            "certificate_hashes": certificate_hashes,
            "transport": transport,
            "cover": cover,
            "repair": repair,
            "damaged": damaged,
            "runtime": runtime,
            "host": host,
            "link": link,
        }
        options = check_options(endpoint, data_dir, identity, api_key, api_url, given)
        loop = asyncio.get_running_loop()
        return cls(await run_async(connect(options, manager=cls._manager, loop=loop)))

    @property
    def agent_id(self) -> str:
        """How the relay and other agents name this agent."""
        return self._agent.agent_id

    async def transport(self) -> Optional[str]:
        """How the connection is made: ``quic``, ``grpc`` or ``cells``; None while there is none."""
        return (await run_async(operations.state(self._agent))).get("transport")

    async def channels(self) -> List[str]:
        """Names of the channels that this agent is in."""
        return list((await run_async(operations.state(self._agent)))["channels"])

    async def channel(self, name: str, *, receive: bool = True) -> Channel:
        """A channel that this agent is in, also after a restart."""
        return Channel(self._agent, name, await run_async(operations.enter(self._agent, "open", name, receive)))

    async def join(self, link: str, timeout: float = 60) -> Channel:
        """Joins by a link that a member has given; opens the channel when this agent is in it already."""
        name, channel_id = await run_async(operations.join_link(self._agent, link, timeout))
        return Channel(self._agent, name, channel_id)

    async def close_channel(self, name: str) -> None:
        """Ends a channel of this account for all its members and frees its name."""
        await run_async(operations.act(self._agent, "closeChannel", operations.text("name", name)))

    def events(self) -> Loop[Event]:
        """Iterates over the events of the connection and of all channels, from ``async with`` or the first item on."""
        return Loop(Stream(self._agent, "events", {}), lambda item: event_of(item.fields["event"]))

    async def close(self) -> None:
        """Acknowledges what ``receive`` has handed out, writes what is under way and ends the connection."""
        await run_async(self._agent.close())

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._agent.agent_id} in {self._agent.data_dir!r}>"


class StaticClient(_Connected):
    """One agent; see ``static_sdk.StaticClient``."""

    async def create_channel(self, name: str, *, receive: bool = True) -> Channel:
        """Makes a channel with this agent as its owner and only member."""
        return Channel(self._agent, name, await run_async(operations.enter(self._agent, "create", name, receive)))

    async def open_channel(self, name: str, *, receive: bool = True) -> Channel:
        """The channel of this name: opened when this agent is in it, else made with this agent as its owner."""
        return Channel(self._agent, name, await run_async(operations.enter(self._agent, "openOrCreate", name, receive)))

    async def number(self) -> str:
        """40 digits of this agent. Others compare them before they name it."""
        return await run_async(operations.number(self._agent))

    async def generate_key_package(self) -> bytes:
        """A KeyPackage to be handed to a member of a channel, which adds this agent with it."""
        return await run_async(operations.key_package(self._agent))

    async def join_channel(self, name: str, welcome: Optional[bytes] = None, *, receive: bool = True) -> Channel:
        """Joins by the Welcome that ``add_member`` returned, or by the one that the relay has delivered."""
        return Channel(self._agent, name, await run_async(operations.join(self._agent, name, welcome, receive)))

    async def welcomes(self) -> List[str]:
        """Names of channels to which a Welcome has arrived."""
        return list((await run_async(operations.state(self._agent)))["welcomes"])


class ChannelManager(_Connected):
    """Channels by name, and others let in in the background; see ``static_sdk.ChannelManager``."""

    _manager = True

    @property
    def client(self) -> StaticClient:
        """The same agent, for KeyPackages and Welcomes by hand."""
        return StaticClient(self._agent)

    async def create(self, name: str, *, receive: bool = True) -> Channel:
        """Makes a channel with this agent as its owner."""
        return await self.client.create_channel(name, receive=receive)

    async def invite(
        self,
        name: str,
        *,
        expires_in: Optional[float] = None,
        uses: Optional[int] = None,
        replaces: Union[None, str, Member] = None,
    ) -> str:
        """A token with which others can join while this manager runs."""
        return await run_async(operations.invite(self._agent, name, expires_in, uses, replaces))

    async def invite_link(
        self,
        name: str,
        *,
        expires_in: Optional[float] = None,
        uses: Optional[int] = None,
        guest: Union[bool, Guest] = False,
        web: bool = False,
    ) -> str:
        """A link with which others can join while this manager runs, and which says where the service is."""
        return await run_async(operations.invite_link(self._agent, name, expires_in, uses, guest, web))

    async def invites(self, name: Optional[str] = None) -> List[Invite]:
        """The invites of this agent that can be joined with, without their secrets."""
        return await run_async(operations.invites(self._agent, name))

    async def revoke_invite(self, token: str) -> None:
        """The token or link lets nobody in any more."""
        await run_async(operations.revoke_invite(self._agent, token))

    async def revoke_invite_by_id(self, invite: Invite) -> None:
        """The same by what ``invites`` tells of it."""
        await run_async(operations.act(self._agent, "revokeInvite", invite.channel, invite=invite.id))

    async def join_with_token(self, name: str, token: str, timeout: float = 60) -> Channel:
        """Joins with a token that a member has given."""
        joining = operations.join_by_token(self._agent, "joinWithToken", name, token, timeout)
        return Channel(self._agent, name, await run_async(joining))

    async def join_or_open(self, name: str, token: str, timeout: float = 60) -> Channel:
        """Joins with a token, and opens the channel if this agent is in it already."""
        joining = operations.join_by_token(self._agent, "joinOrOpen", name, token, timeout)
        return Channel(self._agent, name, await run_async(joining))

    async def send(self, name: str, payload: Payload) -> None:
        """Sends to a channel."""
        await run_async(operations.send(self._agent, operations.text("name", name), payload, operations.send_options()))

    async def send_many(self, name: str, payloads: Iterable[Payload]) -> None:
        """Sends many messages in order."""
        sending = operations.send_many(self._agent, operations.text("name", name), payloads, operations.send_options())
        await run_async(sending)

    async def receive(self, name: str, timeout: Optional[float] = None) -> Optional[bytes]:
        """The next message, or None when none arrives in time."""
        envelope = await self.receive_envelope(name, timeout)
        return None if envelope is None else envelope.payload

    async def receive_envelope(self, name: str, timeout: Optional[float] = None) -> Optional[Envelope]:
        """The next message with who sent it."""
        fields = await run_async(operations.receive(self._agent, name, timeout))
        return None if fields is None else Envelope(**fields)

    def receive_envelopes(self, name: str) -> Loop[Envelope]:
        """All messages with their senders, ids and times."""
        stream = Stream(self._agent, "read", {"channel": operations.text("name", name)})
        return Loop(stream, _envelope_with(stream, False))

    async def health(self, name: str) -> Health:
        """Returns the state of a channel: its troubles, and what is being done about them."""
        return await run_async(operations.health(self._agent, name))


def _envelope_with(stream: Stream, manual: bool) -> Callable[[Item], Envelope]:
    def decode(item: Item) -> Envelope:
        ack = (lambda: run_async(stream.ack(item))) if manual else None
        return Envelope(**message_fields(item.fields["envelope"], item.body), _ack=ack)

    return decode


def _answer_of(item: Item) -> Answer:
    fields = item.fields
    if "error" in fields:
        return Answer(fields["from"], None, error_of(fields["error"]))
    return Answer(fields["from"], Envelope(**message_fields(fields["envelope"], item.body)), None)
