"""The same for asyncio: ``await StaticClient.connect(...)``, ``async with``, ``async for``.

Cancelling a call is an interrupt: an operation is given up, and a message that arrives for an
interrupted ``receive`` or loop goes to the next one. Objects belong to the event loop in which they
are used.
``blocking.py`` is generated from it: a line that ends with ``# asyncio`` is left out there, and one
behind ``# blocking:`` is put in.
"""

from __future__ import annotations

import asyncio  # asyncio
import os
from types import TracebackType
from typing import Any, ClassVar, Dict, Iterable, List, Mapping, Optional, Sequence, Type, TypeVar, Union

from . import operations
from .agent import Agent, NotCopied
from .async_iterators import Answer, Envelope, Handler, Loop, Serving  # asyncio
from .async_iterators import answer_of, envelope_with  # asyncio
from .connecting import Token, check_options, connect
from .iterators import payload_of  # asyncio
# blocking: from .iterators import Answer, Envelope, Loop, answer_of, envelope_with, payload_of
from .operations import milliseconds
# blocking: from .serving import Handler, Serving
from .coroutines import run_async
from .streams import Stream
from .values import (
    Event,
    Guest,
    Health,
    Invite,
    Issuer,
    Member,
    Message,
    Payload,
    Policy,
    Presence,
    Receipt,
    RecoveryPreview,
    Sent,
    event_of,
    health_of,
    invite_of,
    issuer_fields,
    issuer_of,
    member_of,
    preview_of,
    presence_of,
    receipt_of,
)

__all__ = ["Answer", "Channel", "ChannelManager", "Envelope", "Loop", "Serving", "StaticClient"]

_Self = TypeVar("_Self", bound="_Connected")


class Channel(NotCopied):
    """An end-to-end encrypted channel; any thread may use a blocking one. It stays usable while
    loops read from it and after them.

    Example::

        channel = await client.open_channel("acme/ops/deploy")
        await channel.send(b"hello")
        print(await channel.receive(timeout=1))
    """

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

    async def _act(self, op: str, body: bytes = b"", **fields: Any) -> Any:
        return await run_async(operations.act(self._agent, op, body, channel=self._name, **fields))

    async def add_member(self, key_package: Union[bytes, str], *, replaces: Union[None, str, Member] = None) -> bytes:
        """Adds an agent by its KeyPackage, or by its agent id when the relay holds a KeyPackage for
        it.

        Returns the Welcome: hand it to the new member, which calls ``join_channel``; the relay
        delivers it as well.

        :param replaces: a member, or its agent id, that is removed by this call. For owners.
        """
        agent_id, body = (key_package, b"") if isinstance(key_package, str) else (None, operations.data("key_package", key_package))
        return bytes(await self._act("addMember", body, replaces=operations.replaced(replaces), agentId=agent_id))

    async def remove_member(self, member: Union[str, Member]) -> None:
        """Removes a member; only owners may. It cannot read messages that are sent from now on."""
        await self._act("removeMember", agentId=operations.agent_of(member))

    async def recover(
        self,
        *,
        without: Optional[Sequence[Union[str, Member]]] = None,
        keep: Optional[Sequence[Union[str, Member]]] = None,
    ) -> None:
        """Begins the channel anew when a member's commit has stopped it; see
        ``health().recoverable``.

        Its sender is out, and those that it let in within a day. When an owner must say who goes,
        it raises ``choice_needed``, with them in ``members``: then give ``without`` (exactly these;
        ``[]`` for nobody else) or ``keep`` (those but these).
        """
        await self._act("recover", without=operations.agent_ids(without), keep=operations.agent_ids(keep))

    async def preview_recovery(
        self,
        *,
        without: Optional[Sequence[Union[str, Member]]] = None,
        keep: Optional[Sequence[Union[str, Member]]] = None,
    ) -> RecoveryPreview:
        """Whom ``recover()`` with the same lists would leave out now, and why."""
        ids, kept = operations.agent_ids(without), operations.agent_ids(keep)
        return preview_of(await self._act("previewRecovery", without=ids, keep=kept))

    async def promote(self, member: Union[str, Member], *, to: str = "owner") -> None:
        """Makes a member an owner, or with ``to="member"`` a guest a member like the others; only
        owners may.
        """
        await self._act("promote", agentId=operations.agent_of(member), to=to)

    async def demote(self, member: Union[str, Member]) -> None:
        """Makes an owner a member like the others; only owners may. The last owner stays one."""
        await self._act("demote", agentId=operations.agent_of(member))

    async def policy(self) -> Policy:
        """The channel's policy: who may add agents, and who may send."""
        policy = await self._act("policy")
        return Policy(policy["admission"], policy["posting"])

    async def set_policy(self, *, admission: Optional[str] = None, posting: Optional[str] = None) -> None:
        """Changes the policy: ``"members"`` or ``"owners"``; only owners may. Fields that are not
        given stay as they are.
        """
        await self._act("setPolicy", admission=admission, posting=posting)

    async def issuers(self) -> List[Issuer]:
        """The issuers of which each member has a badge; none, where nobody needs one."""
        return [issuer_of(fields) for fields in await self._act("issuers")]

    async def set_issuers(
        self, issuers: Optional[Sequence[Issuer]], *, remove: Sequence[Union[str, Member]] = ()
    ) -> None:
        """Requires a badge of one of these issuers of every member; of an empty list, of nobody.
        With None they stay as they are. Only owners may. Raises ``members_not_attested`` while
        members have no such badge, with their ids in ``members``: give them badges, or name them in
        ``remove``.
        """
        fields = None if issuers is None else [issuer_fields(issuer) for issuer in issuers]
        await self._act("setIssuers", issuers=fields, remove=[operations.agent_of(member) for member in remove])

    async def rotate(self) -> None:
        """Changes this agent's keys now: a copy of the keys from before cannot read what comes."""
        await self._act("rotate")

    async def leave(self, *, successor: Union[None, str, Member] = None) -> None:
        """Leaves the channel and deletes its keys here. Loops end. The last member closes the
        channel by leaving.

        The last owner makes ``successor`` an owner first; it has to name one where only owners may
        something.
        """
        await self._act("leave", successor=None if successor is None else operations.agent_of(successor))

    async def send(
        self,
        payload: Payload,
        *,
        to: Union[None, str, Member, Sequence[Union[str, Member]]] = None,
        content_type: Optional[str] = None,
        reply_to: Optional[str] = None,
        conversation: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        expires_in: Optional[float] = None,
        queue: bool = False,
        timeout: Optional[float] = None,
        receipt: Optional[str] = None,
    ) -> Optional[Sent]:
        """Sends a message to all members, or to some. Returns when the relay has accepted it.

        Then it is delivered, also to members that are offline now. With ``queue`` it returns
        without a connection too, and the message is sent when there is one.

        :param receipt: asks those that ``to`` names what becomes of it: ``"delivered"``, or
            ``"done"`` as well. Then it returns the message's id, for ``receipts_of``.
        """
        options = operations.send_options(
            to, content_type, reply_to, conversation, headers, expires_in, queue, timeout, receipt
        )
        return await run_async(operations.send(self._agent, self._name, payload, options))

    async def receipts_of(self, message_id: str) -> List[Receipt]:
        """Tells what has become of a message that was sent with ``receipt``, at each of those that
        it was for.
        """
        return [receipt_of(each) for each in await self._act("receiptsOf", message=message_id)]

    async def give_receipt(self, message: Message, state: str) -> None:
        """Tells the sender of a message, if it asked, what became of it: ``done``, or ``held`` or
        ``refused`` before the message is acknowledged.
        """
        if message.receipt is not None:
            of = {"message": message.id, "sender": message.sender}
            await self._act("giveReceipt", b"", state=state, receipt=message.receipt, **of)

    async def send_many(self, payloads: Iterable[Payload]) -> None:
        """Sends many messages in order, some of them at once: much faster than one after the other.

        Returns when the relay has accepted all of them. Raises the first error; messages after that
        one may have been sent.
        """
        await run_async(operations.send_many(self._agent, self._name, payloads, operations.send_options()))

    def messages(self) -> Loop[bytes]:
        """The messages of the others, decrypted, in order: those for all and those for this agent.

        A message counts as done with when the loop asks for the next one; until then it comes again
        after a crash, or to the next loop. For one message at a time there is ``receive``.
        """
        return Loop(Stream(self._agent, "read", {"channel": self._name}), payload_of)

    def envelopes(
        self, *, all: bool = False, ack: str = "auto", reader: Optional[str] = None, tail: bool = False
    ) -> Loop[Envelope]:
        """Like ``messages``, with who sent each message, when the relay accepted it, its id, and
        what it says about itself.

        With ``ack="manual"`` each is acknowledged by its own ``ack()``; with ``all=True`` what is
        for others is shown too. With ``host="auto"`` programs that read share the messages;
        ``reader`` names a position of its own, which sees every message, and ``tail`` reads from
        now on and holds nothing back; with ``reader`` it begins with what waits for that one, and
        takes none of it.
        """
        stream = Stream(self._agent, "read", operations.reading(self._agent, self._name, all, ack, reader, tail))
        return Loop(stream, envelope_with(stream, ack == "manual"))

    async def receive(self, timeout: Optional[float] = None) -> Optional[bytes]:
        """The next message, or None when none arrives within ``timeout`` seconds; without one it
        waits for ever.

        It counts as done with when the next one is asked for, or when the client is closed.
        """
        envelope = await self.receive_envelope(timeout)
        return None if envelope is None else envelope.payload

    async def receive_envelope(self, timeout: Optional[float] = None) -> Optional[Envelope]:
        """Like ``receive``, with who sent the message and what it says about itself."""
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
        """Asks a member and returns its reply.

        A member that is offline gets the request when it is back, until the time is over. Raises
        ``RemoteError`` when its handler failed, and ``request_timeout``.
        """
        options = operations.ask_options(content_type, conversation, headers, timeout, key)
        asking = operations.request(self._agent, self._name, payload, {**options, "to": operations.agent_of(to)})
        return Envelope(**await run_async(asking))

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
        return Loop(Stream(self._agent, "requestAll", fields, body), answer_of)

    async def serve(self, handler: Handler, *, concurrency: int = 16) -> Serving:
        """Handles the requests of others from now on, each in a thread; with asyncio in a task.

        What the handler returns, bytes or ``Json``, is the reply; a ``RemoteError`` that it raises
        is told to the requester.
        """
        stream = Stream(self._agent, "serve", {"channel": self._name, "concurrency": concurrency})
        await run_async(stream.open())
        return Serving(stream, handler)

    def events(self) -> Loop[Event]:
        """Iterates over the events of the channel and its connection from now on. The loop ends
        with the channel.
        """
        stream = Stream(self._agent, "events", {"channel": self._name})
        # blocking: run(stream.open())
        return Loop(stream, lambda item: event_of(item.fields["event"]))

    async def members(self) -> List[Member]:
        """The members, as this agent's MLS state has them: the relay cannot add anybody to this
        list.
        """
        return [member_of(each) for each in await self._act("members")]

    async def presence(self) -> List[Presence]:
        """Tells of each member whether it is there: as the relay says now, and as this agent has
        heard itself. Without a connection the relay says nothing.
        """
        return [presence_of(each) for each in await self._act("presence")]

    async def wait_for_member(
        self, member: Union[None, str, Member] = None, timeout: Optional[float] = None
    ) -> Optional[Member]:
        """Waits until a member is there that can be asked, and returns it, or None when nobody
        comes in time.

        :param member: an agent id, or a name that you gave one. Without it, the next one that
            comes: of those that came since this agent opened the channel, each is returned once.
        """
        agent_id = None if member is None else operations.agent_of(member)
        waiting = operations.ask(self._agent, "waitForMember", channel=self._name, member=agent_id, timeoutMs=milliseconds("timeout", timeout))
        answer = await run_async(waiting)
        return None if answer.get("none") else member_of(answer["member"])

    async def number_of(self, agent: Union[str, Member]) -> str:
        """40 digits of a member, the same in all its channels. Compare them before you name it."""
        return str(await self._act("number", agentId=operations.agent_of(agent)))

    async def fingerprint(self) -> str:
        """40 digits that are the same for all members at the same epoch, and for nobody else."""
        return str(await self._act("fingerprint"))

    async def health(self) -> Health:
        """Returns the channel's troubles, and what is being done about them."""
        return health_of(await self._act("health"))


class _Connected(NotCopied):
    """An agent that is connected. ``async with`` closes it."""

    _manager: ClassVar[bool] = False

    def __init__(self, agent: Agent) -> None:  # asyncio
        self._agent = agent  # asyncio

    @classmethod  # asyncio
    async def connect(  # asyncio
        cls: Type[_Self],  # asyncio
    # blocking: def __init__(
    # blocking:     self,
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
        badge: Union[None, str, "os.PathLike[str]", bool] = None,
        receipts: Optional[str] = None,
    ) -> _Self:  # asyncio
    # blocking: ) -> None:
        """Connects and authenticates; the API key is exchanged for a token here.

        :param endpoint: address of the relay, or of several relays of one service, with commas;
            None takes ``STATIC_RELAY_URL``, then the file of ``static login``, if they are of the
            same API; then what the API tells.
        :param data_dir: where this agent's keys and channels are kept, encrypted. One agent each.
        :param identity: unique for each agent; 1 to 256 bytes.
        :param api_key: exchanged for tokens; without it ``STATIC_API_KEY``, then the file of
            ``static login``. With none of them, what is local works and the rest raises
            ``auth_failed``.
        :param api_url: address of the API; needed with ``api_key``.
        :param passphrase: protects the keys in ``data_dir``; without it they are protected by the
            file's permissions alone.
        :param token: instead of a key: a token, or a function that returns one.
        :param ca_file: a file with certificates to trust beside those of the runtime.
        :param transport: ``auto``, ``quic`` or ``grpc``.
        :param cover: cover traffic: ``off``, ``standard`` or ``strong``.
        :param runtime: path of Deno or Node; without it they are looked for.
        :param host: ``auto`` shares the agent with other programs of this user, also of other
            languages, through its host, which is started when none runs; ``off``, or nothing, holds
            it alone.
        :param link: a link that a member has given: it says where the service is and whom to trust,
            and its guest pass stands in for a key. A key of one's own is used if it was given or
            saved together with the link's API address.
        :param badge: the badge that this agent shows to members: its text (``badge_…``), or the
            path of a file with it, which is looked at again while the agent runs. An agent with an
            API key also shows the badge of its account. False shows none, and asks for none.
        :param receipts: ``off``: senders that ask what becomes of a message to this agent are not
            told; ``addressed``, or nothing: they are.
        """
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
            "badge": badge,
            "receipts": receipts,
        }
        options = check_options(endpoint, data_dir, identity, api_key, api_url, given)
        loop = asyncio.get_running_loop()  # asyncio
        return cls(await run_async(connect(options, manager=cls._manager, loop=loop)))  # asyncio
        # blocking: self._agent: Agent = run(connect(options, manager=self._manager))

    @property
    def agent_id(self) -> str:
        """How the relay and other agents name this agent."""
        return self._agent.agent_id

    # blocking: @property
    async def transport(self) -> Optional[str]:
        """How the connection is made: ``quic``, ``grpc`` or ``cells``; None while there is none."""
        return (await self._state()).get("transport")

    # blocking: @property
    async def channels(self) -> List[str]:
        """Names of the channels that this agent is in."""
        return list((await self._state())["channels"])

    async def channel(self, name: str, *, receive: bool = True) -> Channel:
        """A channel that this agent is in, also after a restart. With ``receive=False`` it takes no
        messages.
        """
        return await self._enter("open", channel=operations.text("name", name), receive=receive)

    async def join(
        self, link: str, timeout: float = 60, *, from_: Optional[str] = None, require_issuers: bool = False
    ) -> Channel:
        """Joins by a link that a member has given; opens the channel when this agent is in it
        already.

        An agent that was made with the same link needs nothing else. Raises ``link_invalid`` for a
        link that was cut short or changed, ``join_timeout`` when the inviter is not running,
        ``join_rejected`` when the link is no longer good.

        ``from_`` is a domain of your trust list (``static trust add``) that must attest the agent
        that lets this one in; with ``require_issuers`` the channel must require badges. Otherwise
        it raises ``not_attested``, and nothing was sent there.
        """
        demands = operations.demands(from_, require_issuers, timeout)
        return await self._enter("joinLink", link=operations.text("link", link), **demands)

    async def close_channel(self, name: str) -> None:
        """Ends a channel of this account for all its members and frees its name, also when this
        agent's state of it is lost.
        """
        await self._act("closeChannel", channel=operations.text("name", name))

    def events(self) -> Loop[Event]:
        """Iterates over the events of the connection and of all channels from now on."""
        stream = Stream(self._agent, "events", {})
        # blocking: run(stream.open())
        return Loop(stream, lambda item: event_of(item.fields["event"]))

    async def close(self) -> None:
        """Acknowledges what ``receive`` has handed out, writes what is under way and ends the
        connection. Loops end.
        """
        await run_async(self._agent.close())

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def _act(self, op: str, **fields: Any) -> Any:
        return await run_async(operations.act(self._agent, op, **fields))

    async def _state(self) -> Dict[str, Any]:
        return await run_async(operations.ask(self._agent, "agent"))

    async def _enter(self, op: str, body: bytes = b"", **fields: Any) -> Channel:
        entered = await run_async(operations.enter(self._agent, op, body, **fields))
        return Channel(self._agent, entered["name"], entered["id"])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._agent.agent_id} in {self._agent.data_dir!r}>"


class StaticClient(_Connected):
    """One agent.

    Example::

        async with await StaticClient.connect(None, "agents/alice", b"alice") as client:
            channel = await client.open_channel("acme/ops/news")
            await channel.send(b"hello")
    """

    async def create_channel(
        self, name: str, *, receive: bool = True, post_quantum: str = "require"
    ) -> Channel:
        """Makes a channel with this agent as its owner and only member.

        With ``post_quantum="prefer"`` an agent of another maker may come in without a post-quantum
        key; ``health().post_quantum`` says what that ended.
        """
        fields: Dict[str, Any] = {"channel": operations.text("name", name), "receive": receive}
        return await self._enter("create", **fields, postQuantum=operations.text("post_quantum", post_quantum))

    async def open_channel(self, name: str, *, receive: bool = True) -> Channel:
        """The channel of this name: opened when this agent is in it, else made with this agent as
        its owner.
        """
        return await self._enter("openOrCreate", channel=operations.text("name", name), receive=receive)

    async def number(self) -> str:
        """40 digits of this agent. Others compare them with ``number_of`` or ``static trust name``
        before they name it.
        """
        return str(await self._act("number"))

    async def generate_key_package(self) -> bytes:
        """A KeyPackage to be handed to a member of a channel, which adds this agent with it. For
        one channel only.
        """
        return bytes(await self._act("keyPackage"))

    async def join_channel(self, name: str, welcome: Optional[bytes] = None, *, receive: bool = True) -> Channel:
        """Joins by the Welcome that ``add_member`` returned; without one, by the Welcome that the
        relay has delivered.
        """
        body = b"" if welcome is None else operations.data("welcome", welcome)
        return await self._enter("join", body, channel=operations.text("name", name), receive=receive, delivered=welcome is None)

    # blocking: @property
    async def welcomes(self) -> List[str]:
        """Names of channels to which a Welcome has arrived: ``join_channel(name)`` takes it."""
        return list((await self._state())["welcomes"])




class ChannelManager(_Connected):
    """Channels by name, and others let in in the background: invite tokens work while the manager
    that made them runs.

    Example::

        async with await ChannelManager.connect(None, "agents/owner", b"owner") as owner:
            await owner.create("acme/ops/rollout")
            print(await owner.invite("acme/ops/rollout", uses=3))
    """

    _manager = True

    @property
    def client(self) -> StaticClient:
        """The same agent, for KeyPackages and Welcomes by hand."""
        return StaticClient(self._agent)  # asyncio
        # blocking: return _client_over(self._agent)

    async def create(
        self, name: str, *, receive: bool = True, post_quantum: str = "require"
    ) -> Channel:
        """Makes a channel with this agent as its owner; see ``StaticClient.create_channel``."""
        return await self.client.create_channel(name, receive=receive, post_quantum=post_quantum)

    async def invite(
        self,
        name: str,
        *,
        expires_in: Optional[float] = None,
        uses: Optional[int] = None,
        replaces: Union[None, str, Member] = None,
    ) -> str:
        """A token with which others can join while this manager runs. Keep it secret: its holder is
        let in.

        :param expires_in: how many seconds it is good; a day when not given.
        :param uses: how many agents may join with it; one when not given.
        :param replaces: a member, or its agent id, that is removed when an agent joins with it. For
            owners; for one agent.
        """
        fields = {"channel": operations.text("name", name), "expiresInMs": milliseconds("expires_in", expires_in), "uses": uses}
        return str(await self._act("invite", **fields, replaces=operations.replaced(replaces)))

    async def invite_link(
        self,
        name: str,
        *,
        expires_in: Optional[float] = None,
        uses: Optional[int] = None,
        guest: Union[bool, Guest] = False,
        web: bool = False,
    ) -> str:
        """A link with which others can join while this manager runs, and which says where the
        service is.

        :param guest: with a pass for one agent without an account, whose messages count on this
            agent's account.
        :param web: as an https address, for people without a program.
        """
        fields = {"channel": operations.text("name", name), "expiresInMs": milliseconds("expires_in", expires_in), "uses": uses}
        return str(await self._act("inviteLink", **fields, guest=operations.guest_of(guest), web=web))

    async def invites(self, name: Optional[str] = None) -> List[Invite]:
        """The invites of this agent that can be joined with, without their secrets; of one channel,
        or of all.
        """
        return [invite_of(each) for each in await self._act("invites", channel=name)]

    async def revoke_invite(self, token: str) -> None:
        """The token or link lets nobody in any more."""
        await self._act("revokeInvite", token=operations.text("token", token))

    async def revoke_invite_by_id(self, invite: Invite) -> None:
        """The same by what ``invites`` tells of it."""
        await self._act("revokeInvite", channel=invite.channel, invite=invite.id)

    async def join_with_token(
        self, name: str, token: str, timeout: float = 60, *, from_: Optional[str] = None, require_issuers: bool = False
    ) -> Channel:
        """Joins with a token that a member has given.

        Raises ``join_timeout`` when nobody answers: the inviter is not running, or has no API key.
        Trying again with the same token is then safe. ``from_`` and ``require_issuers`` are those
        of ``join``.
        """
        demands = operations.demands(from_, require_issuers, timeout)
        return await self._enter("joinWithToken", **operations.joining(name, token), **demands)

    async def join_or_open(
        self, name: str, token: str, timeout: float = 60, *, from_: Optional[str] = None, require_issuers: bool = False
    ) -> Channel:
        """Joins with a token, and opens the channel if this agent is in it already.

        So a program is the same on its first run and on every other, also after a crash.
        ``from_`` and ``require_issuers`` are those of ``join``, also of a channel that it is in.
        """
        demands = operations.demands(from_, require_issuers, timeout)
        return await self._enter("joinOrOpen", **operations.joining(name, token), **demands)

    async def send(self, name: str, payload: Payload) -> None:
        """Sends to a channel; see ``Channel.send``."""
        await run_async(operations.send(self._agent, operations.text("name", name), payload, operations.send_options()))

    async def send_many(self, name: str, payloads: Iterable[Payload]) -> None:
        """Sends many messages in order; see ``Channel.send_many``."""
        await run_async(operations.send_many(self._agent, operations.text("name", name), payloads, operations.send_options()))

    async def receive(self, name: str, timeout: Optional[float] = None) -> Optional[bytes]:
        """The next message, or None when none arrives in time; see ``Channel.receive``."""
        envelope = await self.receive_envelope(name, timeout)
        return None if envelope is None else envelope.payload

    async def receive_envelope(self, name: str, timeout: Optional[float] = None) -> Optional[Envelope]:
        """The next message with who sent it."""
        fields = await run_async(operations.receive(self._agent, name, timeout))
        return None if fields is None else Envelope(**fields)

    def receive_envelopes(self, name: str) -> Loop[Envelope]:
        """All messages with their senders, ids and times; see ``Channel.envelopes``."""
        stream = Stream(self._agent, "read", {"channel": operations.text("name", name)})  # asyncio
        return Loop(stream, envelope_with(stream, False))  # asyncio
        # blocking: return self.channel(name).envelopes()

    async def health(self, name: str) -> Health:
        """Returns the state of a channel: its troubles, and what is being done about them."""
        return health_of(await self._act("health", channel=operations.text("name", name)))


# blocking: def _client_over(agent: Agent) -> StaticClient:
# blocking:     """A client of an agent that is connected already."""
# blocking:     client = StaticClient.__new__(StaticClient)
# blocking:     client._agent = agent
# blocking:     return client
