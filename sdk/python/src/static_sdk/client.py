"""The entry point for programs: one connected agent."""

from __future__ import annotations

import os
from types import TracebackType
from typing import ClassVar, List, Optional, Sequence, Type, TypeVar, Union

from . import operations
from .agent import Agent, NotCopied
from .channel import Channel
from .connecting import Token, check_options, connect
from .loops import Loop
from .steps import run
from .streams import Stream
from .values import Event, event_of

_Self = TypeVar("_Self", bound="Connected")


class Connected(NotCopied):
    """An agent that is connected when it has been made. ``with`` closes it."""

    _manager: ClassVar[bool] = False

    def __init__(
        self,
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
    ) -> None:
        """Connects and authenticates; the API key is exchanged for a token here.

        :param endpoint: address of the relay, or of several relays of one service, with commas; None takes
            ``STATIC_RELAY_URL``, then the file of ``static login``, if they are of the same API; then what the API tells.
        :param data_dir: where this agent's keys and channels are kept, encrypted. One agent each.
        :param identity: unique for each agent; 1 to 256 bytes.
        :param api_key: exchanged for tokens; without it ``STATIC_API_KEY``, then the file of ``static login``. With none of
            them, what is local works and the rest raises ``auth_failed``.
        :param api_url: address of the API; needed with ``api_key``.
        :param passphrase: protects the keys in ``data_dir``; without it they are protected by the file's permissions alone.
        :param token: instead of a key: a token, or a function that returns one.
        :param ca_file: a file with certificates to trust beside those of the runtime.
        :param transport: ``auto``, ``quic`` or ``grpc``.
        :param cover: cover traffic: ``off``, ``standard`` or ``strong``.
        :param runtime: path of Deno or Node; without it they are looked for.
        :param host: ``auto`` shares the agent with other programs of this user, also of other languages, through its host,
            which is started when none runs; ``off``, or nothing, holds it alone.
        :param link: a link that a member has given: it says where the service is and whom to trust, and its guest pass stands
            in for a key. A key of one's own is used if it was given or saved together with the link's API address.
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
        }
        options = check_options(endpoint, data_dir, identity, api_key, api_url, given)
        self._agent: Agent = run(connect(options, manager=self._manager))

    @property
    def agent_id(self) -> str:
        """How the relay and other agents name this agent."""
        return self._agent.agent_id

    @property
    def transport(self) -> Optional[str]:
        """How the connection is made: ``quic``, ``grpc`` or ``cells``; None while there is none."""
        return run(operations.state(self._agent)).get("transport")

    @property
    def channels(self) -> List[str]:
        """Names of the channels that this agent is in."""
        return list(run(operations.state(self._agent))["channels"])

    def channel(self, name: str, *, receive: bool = True) -> Channel:
        """A channel that this agent is in, also after a restart. With ``receive=False`` it takes no messages."""
        return Channel(self._agent, name, run(operations.enter(self._agent, "open", name, receive)))

    def join(self, link: str, timeout: float = 60) -> Channel:
        """Joins by a link that a member has given; opens the channel when this agent is in it already.

        An agent that was made with the same link needs nothing else. Raises ``link_invalid`` for a link that was cut short or
        changed, ``join_timeout`` when the inviter is not running, ``join_rejected`` when the link is no longer good.
        """
        name, channel_id = run(operations.join_link(self._agent, link, timeout))
        return Channel(self._agent, name, channel_id)

    def close_channel(self, name: str) -> None:
        """Ends a channel of this account for all its members and frees its name, also when this agent's state of it is lost."""
        run(operations.act(self._agent, "closeChannel", operations.text("name", name)))

    def events(self) -> Loop[Event]:
        """Iterates over the events of the connection and of all channels from now on."""
        stream = Stream(self._agent, "events", {})
        run(stream.open())
        return Loop(stream, lambda item: event_of(item.fields["event"]))

    def close(self) -> None:
        """Acknowledges what ``receive`` has handed out, writes what is under way and ends the connection. Loops end."""
        run(self._agent.close())

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._agent.agent_id} in {self._agent.data_dir!r}>"


class StaticClient(Connected):
    """One agent.

    Example::

        with StaticClient(None, "agents/alice", b"alice") as client:
            channel = client.open_channel("acme/ops/news")
            channel.send(b"hello")
    """

    def create_channel(self, name: str, *, receive: bool = True) -> Channel:
        """Makes a channel with this agent as its owner and only member."""
        return Channel(self._agent, name, run(operations.enter(self._agent, "create", name, receive)))

    def open_channel(self, name: str, *, receive: bool = True) -> Channel:
        """The channel of this name: opened when this agent is in it, else made with this agent as its owner."""
        return Channel(self._agent, name, run(operations.enter(self._agent, "openOrCreate", name, receive)))

    def number(self) -> str:
        """40 digits of this agent. Others compare them with ``number_of`` or ``static trust name`` before they name it."""
        return run(operations.number(self._agent))

    def generate_key_package(self) -> bytes:
        """A KeyPackage to be handed to a member of a channel, which adds this agent with it. For one channel only."""
        return run(operations.key_package(self._agent))

    def join_channel(self, name: str, welcome: Optional[bytes] = None, *, receive: bool = True) -> Channel:
        """Joins by the Welcome that ``add_member`` returned; without one, by the Welcome that the relay has delivered."""
        return Channel(self._agent, name, run(operations.join(self._agent, name, welcome, receive)))

    @property
    def welcomes(self) -> List[str]:
        """Names of channels to which a Welcome has arrived: ``join_channel(name)`` takes it."""
        return list(run(operations.state(self._agent))["welcomes"])


def client_over(agent: Agent) -> StaticClient:
    """A client of an agent that is connected already."""
    client = StaticClient.__new__(StaticClient)
    client._agent = agent
    return client
