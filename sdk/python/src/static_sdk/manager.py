"""Channels by name: create, invite, join, send, receive."""

from __future__ import annotations

from typing import Iterable, List, Optional, Union

from . import operations
from .channel import Channel
from .client import Connected, StaticClient, client_over
from .loops import Envelope, Loop
from .steps import run
from .values import Guest, Health, Invite, Member, Payload


class ChannelManager(Connected):
    """Channels by name, and others let in in the background: invite tokens work while the manager that made them runs.

    Example::

        with ChannelManager(None, "agents/owner", b"owner") as owner:
            owner.create("acme/ops/rollout")
            print(owner.invite("acme/ops/rollout", uses=3))
    """

    _manager = True

    @property
    def client(self) -> StaticClient:
        """The same agent, for KeyPackages and Welcomes by hand."""
        return client_over(self._agent)

    def create(self, name: str, *, receive: bool = True) -> Channel:
        """Makes a channel with this agent as its owner."""
        return self.client.create_channel(name, receive=receive)

    def invite(
        self,
        name: str,
        *,
        expires_in: Optional[float] = None,
        uses: Optional[int] = None,
        replaces: Union[None, str, Member] = None,
    ) -> str:
        """A token with which others can join while this manager runs. Keep it secret: its holder is let in.

        :param expires_in: how many seconds it is good; a day when not given.
        :param uses: how many agents may join with it; one when not given.
        :param replaces: a member, or its agent id, that is removed when an agent joins with it. For owners; for one agent.
        """
        return run(operations.invite(self._agent, name, expires_in, uses, replaces))

    def invite_link(
        self,
        name: str,
        *,
        expires_in: Optional[float] = None,
        uses: Optional[int] = None,
        guest: Union[bool, Guest] = False,
        web: bool = False,
    ) -> str:
        """A link with which others can join while this manager runs, and which says where the service is.

        :param guest: with a pass for one agent without an account, whose messages count on this agent's account.
        :param web: as an https address, for people without a program.
        """
        return run(operations.invite_link(self._agent, name, expires_in, uses, guest, web))

    def invites(self, name: Optional[str] = None) -> List[Invite]:
        """The invites of this agent that can be joined with, without their secrets; of one channel, or of all."""
        return run(operations.invites(self._agent, name))

    def revoke_invite(self, token: str) -> None:
        """The token or link lets nobody in any more."""
        run(operations.revoke_invite(self._agent, token))

    def revoke_invite_by_id(self, invite: Invite) -> None:
        """The same by what ``invites`` tells of it."""
        run(operations.act(self._agent, "revokeInvite", invite.channel, invite=invite.id))

    def join_with_token(self, name: str, token: str, timeout: float = 60) -> Channel:
        """Joins with a token that a member has given.

        Raises ``join_timeout`` when nobody answers: the inviter is not running, or has no API key. Trying again with the same
        token is then safe.
        """
        return Channel(self._agent, name, run(operations.join_by_token(self._agent, "joinWithToken", name, token, timeout)))

    def join_or_open(self, name: str, token: str, timeout: float = 60) -> Channel:
        """Joins with a token, and opens the channel if this agent is in it already.

        So a program is the same on its first run and on every other, also after a crash.
        """
        return Channel(self._agent, name, run(operations.join_by_token(self._agent, "joinOrOpen", name, token, timeout)))

    def send(self, name: str, payload: Payload) -> None:
        """Sends to a channel; see ``Channel.send``."""
        run(operations.send(self._agent, operations.text("name", name), payload, operations.send_options()))

    def send_many(self, name: str, payloads: Iterable[Payload]) -> None:
        """Sends many messages in order; see ``Channel.send_many``."""
        run(operations.send_many(self._agent, operations.text("name", name), payloads, operations.send_options()))

    def receive(self, name: str, timeout: Optional[float] = None) -> Optional[bytes]:
        """The next message, or None when none arrives in time; see ``Channel.receive``."""
        envelope = self.receive_envelope(name, timeout)
        return None if envelope is None else envelope.payload

    def receive_envelope(self, name: str, timeout: Optional[float] = None) -> Optional[Envelope]:
        """The next message with who sent it."""
        fields = run(operations.receive(self._agent, name, timeout))
        return None if fields is None else Envelope(**fields)

    def receive_envelopes(self, name: str) -> Loop[Envelope]:
        """All messages with their senders, ids and times; see ``Channel.envelopes``."""
        return self.channel(name).envelopes()

    def health(self, name: str) -> Health:
        """Returns the state of a channel: its troubles, and what is being done about them."""
        return run(operations.health(self._agent, name))
