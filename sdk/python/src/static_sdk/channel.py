"""A channel as its user holds it. Everything behind it is in ``operations`` and ``streams``."""

from __future__ import annotations

from typing import Iterable, List, Mapping, Optional, Sequence, Union

from . import operations
from .agent import Agent, NotCopied
from .loops import Answer, Envelope, Loop, answer_of, envelope_with, payload_of
from .serving import Handler, Serving
from .steps import run
from .streams import Stream
from .values import Event, Health, Member, Payload, Policy, RecoveryPreview, event_of


class Channel(NotCopied):
    """An end-to-end encrypted channel. Any thread may use it, and it stays usable while loops read from it and after them.

    Example::

        channel = client.open_channel("acme/ops/deploy")
        channel.send(b"hello")
        print(channel.receive(timeout=1))
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

    def add_member(self, key_package: Union[bytes, str], *, replaces: Union[None, str, Member] = None) -> bytes:
        """Adds an agent by its KeyPackage, or by its agent id when the relay holds a KeyPackage for it.

        Returns the Welcome: hand it to the new member, which calls ``join_channel``; the relay delivers it as well.

        :param replaces: a member, or its agent id, that is removed by this call. For owners.
        """
        return run(operations.add_member(self._agent, self._name, key_package, replaces))

    def remove_member(self, member: Union[str, Member]) -> None:
        """Removes a member; only owners may. It cannot read messages that are sent from now on."""
        ids = operations.agent_ids(member) or [""]
        run(operations.act(self._agent, "removeMember", self._name, agentId=ids[0]))

    def recover(
        self,
        *,
        without: Optional[Sequence[Union[str, Member]]] = None,
        keep: Optional[Sequence[Union[str, Member]]] = None,
    ) -> None:
        """Begins the channel anew when a member's commit has stopped it; see ``health().recoverable``.

        Its sender is out, and those that it let in within a day. When an owner must say who goes, it raises ``choice_needed``,
        with them in ``members``: then give ``without`` (exactly these; ``[]`` for nobody else) or ``keep`` (those but these).
        """
        run(operations.act(self._agent, "recover", self._name, **operations.lists(without, keep)))

    def preview_recovery(
        self,
        *,
        without: Optional[Sequence[Union[str, Member]]] = None,
        keep: Optional[Sequence[Union[str, Member]]] = None,
    ) -> RecoveryPreview:
        """Whom ``recover()`` with the same lists would leave out now, and why."""
        return run(operations.preview_recovery(self._agent, self._name, without, keep))

    def promote(self, member: Union[str, Member], *, to: str = "owner") -> None:
        """Makes a member an owner, or with ``to="member"`` a guest a member like the others; only owners may."""
        ids = operations.agent_ids(member) or [""]
        run(operations.act(self._agent, "promote", self._name, agentId=ids[0], to=to))

    def demote(self, member: Union[str, Member]) -> None:
        """Makes an owner a member like the others; only owners may. The last owner stays one."""
        ids = operations.agent_ids(member) or [""]
        run(operations.act(self._agent, "demote", self._name, agentId=ids[0]))

    def policy(self) -> Policy:
        """The channel's policy: who may add agents, and who may send."""
        return run(operations.policy(self._agent, self._name))

    def set_policy(self, *, admission: Optional[str] = None, posting: Optional[str] = None) -> None:
        """Changes the policy: ``"members"`` or ``"owners"``; only owners may. Fields that are not given stay as they are."""
        run(operations.act(self._agent, "setPolicy", self._name, admission=admission, posting=posting))

    def rotate(self) -> None:
        """Changes this agent's keys now: a copy of the keys from before cannot read what comes."""
        run(operations.act(self._agent, "rotate", self._name))

    def leave(self, *, successor: Union[None, str, Member] = None) -> None:
        """Leaves the channel and deletes its keys here. Loops end. The last member closes the channel by leaving.

        The last owner makes ``successor`` an owner first; it has to name one where only owners may something.
        """
        ids = operations.agent_ids(successor)
        run(operations.act(self._agent, "leave", self._name, successor=None if ids is None else ids[0]))

    def send(
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
    ) -> None:
        """Sends a message to all members, or to some. Returns when the relay has accepted it.

        Then it is delivered, also to members that are offline now. With ``queue`` it returns without a connection too, and the
        message is sent when there is one.
        """
        options = operations.send_options(to, content_type, reply_to, conversation, headers, expires_in, queue, timeout)
        run(operations.send(self._agent, self._name, payload, options))

    def send_many(self, payloads: Iterable[Payload]) -> None:
        """Sends many messages in order, some of them at once: much faster than one after the other.

        Returns when the relay has accepted all of them. Raises the first error; messages after that one may have been sent.
        """
        run(operations.send_many(self._agent, self._name, payloads, operations.send_options()))

    def messages(self) -> Loop[bytes]:
        """The messages of the others, decrypted, in order: those for all and those for this agent.

        A message counts as done with when the loop asks for the next one; until then it comes again after a crash, or to the
        next loop. For one message at a time there is ``receive``.
        """
        return Loop(Stream(self._agent, "read", {"channel": self._name}), payload_of)

    def envelopes(
        self, *, all: bool = False, ack: str = "auto", reader: Optional[str] = None, tail: bool = False
    ) -> Loop[Envelope]:
        """Like ``messages``, with who sent each message, when the relay accepted it, its id, and what it says about itself.

        With ``ack="manual"`` each is acknowledged by its own ``ack()``; with ``all=True`` what is for others is shown too.
        With ``host="auto"`` programs that read share the messages; ``reader`` names a position of its own, which sees every
        message, and ``tail`` reads from now on and holds nothing back.
        """
        stream = Stream(self._agent, "read", operations.reading(self._agent, self._name, all, ack, reader, tail))
        return Loop(stream, envelope_with(stream, ack == "manual"))

    def receive(self, timeout: Optional[float] = None) -> Optional[bytes]:
        """The next message, or None when none arrives within ``timeout`` seconds; without one it waits for ever.

        It counts as done with when the next one is asked for, or when the client is closed.
        """
        envelope = self.receive_envelope(timeout)
        return None if envelope is None else envelope.payload

    def receive_envelope(self, timeout: Optional[float] = None) -> Optional[Envelope]:
        """Like ``receive``, with who sent the message and what it says about itself."""
        fields = run(operations.receive(self._agent, self._name, timeout))
        return None if fields is None else Envelope(**fields)

    def request(
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

        A member that is offline gets the request when it is back, until the time is over. Raises ``RemoteError`` when its
        handler failed, and ``request_timeout``.
        """
        ids = operations.agent_ids(to) or [""]
        options = {**operations.ask_options(content_type, conversation, headers, timeout, key), "to": ids[0]}
        return Envelope(**run(operations.request(self._agent, self._name, payload, options)))

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

    def serve(self, handler: Handler, *, concurrency: int = 16) -> Serving:
        """Handles the requests of others from now on, each in a thread.

        What the handler returns, bytes or ``Json``, is the reply; a ``RemoteError`` that it raises is told to the requester.
        """
        stream = Stream(self._agent, "serve", {"channel": self._name, "concurrency": concurrency})
        run(stream.open())
        return Serving(stream, handler)

    def events(self) -> Loop[Event]:
        """Iterates over the events of the channel and its connection from now on. The loop ends with the channel."""
        stream = Stream(self._agent, "events", {"channel": self._name})
        run(stream.open())
        return Loop(stream, lambda item: event_of(item.fields["event"]))

    def members(self) -> List[Member]:
        """The members, as this agent's MLS state has them: the relay cannot add anybody to this list."""
        return run(operations.members(self._agent, self._name))

    def wait_for_member(
        self, member: Union[None, str, Member] = None, timeout: Optional[float] = None
    ) -> Optional[Member]:
        """Waits until a member is there that can be asked, and returns it, or None when nobody comes in time.

        :param member: an agent id, or a name that you gave one. Without it, the next one that comes: of those that came since
            this agent opened the channel, each is returned once.
        """
        return run(operations.wait_for_member(self._agent, self._name, member, timeout))

    def number_of(self, agent: Union[str, Member]) -> str:
        """40 digits of a member, the same in all its channels. Compare them before you name it."""
        return run(operations.number(self._agent, self._name, agent))

    def fingerprint(self) -> str:
        """40 digits that are the same for all members at the same epoch, and for nobody else."""
        return run(operations.fingerprint(self._agent, self._name))

    def health(self) -> Health:
        """Returns the channel's troubles, and what is being done about them."""
        return run(operations.health(self._agent, self._name))
