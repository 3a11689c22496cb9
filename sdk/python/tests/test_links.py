"""Links: agents that have nothing else, and links that are no good."""

import asyncio
import os
from unittest import mock

from place import PairCase, channel_name
from static_sdk import AuthError, ChannelError, Guest, InvalidArgumentError, StaticClient, aio

SECONDS = 30.0


class Links(PairCase):
    def test_guest(self) -> None:
        """an agent with nothing but a link joins, speaks, and opens the channel when it runs again"""
        inviter, name = self.alice, channel_name()
        inviter.create(name)
        link = inviter.invite_link(name, guest=True)
        for text in (b"hello", b"again"):
            with mock.patch.dict(os.environ, {"STATIC_API_KEY": "sk_live_of_another_service"}):
                with StaticClient(None, f"{self.folder}/guest", b"guest", link=link) as guest:
                    guest.join(link).send(text)
            self.assertEqual(inviter.receive(name, SECONDS), text)

        async def visit() -> None:
            other = inviter.invite_link(name, guest=Guest(expires_in=3600, messages=10), web=True)
            async with await aio.ChannelManager.connect(None, f"{self.folder}/other", b"other", link=other) as guest:
                await (await guest.join(other)).send(b"async")

        asyncio.run(visit())
        self.assertEqual(inviter.receive(name, SECONDS), b"async")

    def test_bad_links(self) -> None:
        """a link that was cut short, withdrawn, or has no pass raises its code; nothing of it is in
        the text
        """
        inviter, name = self.alice, channel_name()
        inviter.create(name)
        link = inviter.invite_link(name, guest=True)
        with self.assertRaises(InvalidArgumentError) as cut:
            StaticClient(None, f"{self.folder}/cut", b"cut", link=link[:-5])
        self.assertEqual(cut.exception.code, "link_invalid")
        self.assertNotIn(link[60:80], str(cut.exception))
        inviter.revoke_invite(link)
        with self.assertRaises(AuthError) as withdrawn:
            StaticClient(None, f"{self.folder}/late", b"late", link=link)
        self.assertEqual(withdrawn.exception.code, "auth_key_invalid")
        with self.assertRaises(AuthError):
            StaticClient(None, f"{self.folder}/none", b"none", link=inviter.invite_link(name))
        with self.assertRaises(ChannelError) as rejected:
            self.bob.join(link, 10)
        self.assertEqual(rejected.exception.code, "join_rejected")
        with self.assertRaises(TypeError):
            StaticClient(None, f"{self.folder}/bytes", b"bytes", link=b"static://")  # type: ignore[arg-type]
