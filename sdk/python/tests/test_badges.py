"""Agents that are known: badges, the user's list, channels that require badges, and joining only
whom one knows.
"""

import json
import os
from typing import Any, Callable, Dict, List
from unittest import mock

from badges import Issuer
from place import StackCase, channel_name, until
from static_sdk import ChannelManager, StaticError
from static_sdk import Issuer as Required

SECONDS = 30.0
HOUR = 60 * 60

ACME = Issuer("acme.com", b"\x07" * 32)
FALSE = Issuer("acme.com", b"\x08" * 32)


class Badges(StackCase):
    def believe(self, *issuers: Issuer) -> None:
        """The list of the reader's user."""
        domains: Dict[str, Any] = {}
        for issuer in issuers:
            keys = [{"kid": "2026-11", "x": issuer.x}]
            domains[issuer.domain] = {"source": "file", "read": "2026-11-01T00:00:00.000Z", "keys": keys}
        os.makedirs(f"{self.folder}/static", exist_ok=True)
        with open(f"{self.folder}/static/trust.json", "w", encoding="utf-8") as file:
            json.dump({"domains": domains}, file)

    def badged(self, name: str, issuer: Issuer, seconds: int = HOUR) -> ChannelManager:
        """An agent with a badge of its issuer: it has an id from its first connection on."""
        first = self.start(ChannelManager, name, badge=False)
        badge = issuer.badge(f"{name}-bot", first.agent_id, seconds)
        first.close()
        return self.start(ChannelManager, name, badge=badge)

    def reader(self) -> ChannelManager:
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": self.folder}):
            return self.start(ChannelManager, "reader", badge=False)

    def test_verdicts(self) -> None:
        """badges of a domain on the list are its word, while they last; all others say nothing"""
        self.believe(ACME)
        reader = self.reader()
        agents = {
            "true": self.badged("true", ACME),
            "over": self.badged("over", ACME, -HOUR),
            "false": self.badged("false", FALSE),
        }
        name = channel_name()
        reader.create(name)
        for agent in agents.values():
            agent.join_with_token(name, reader.invite(name))
        until("all are in", lambda: len(reader.channel(name).members()) == 4, 60.0)
        members = {each.agent_id: each for each in reader.channel(name).members()}
        true, over, false = (members[agents[each].agent_id] for each in ("true", "over", "false"))
        assert true.attested is not None and over.badge_expired is not None
        self.assertEqual((true.attested.name, true.attested.domain, true.attested.how), ("true-bot", "acme.com", "domain"))
        self.assertEqual((over.attested, over.badge_expired.name), (None, "over-bot"))
        self.assertEqual((false.attested, false.badge_expired), (None, None))
        agents["false"].channel(name).send(b"I am the ceo")
        heard = reader.channel(name).receive_envelope(SECONDS)
        assert heard is not None
        self.assertEqual((heard.attested, heard.identity), (None, b"false"))
        agents["true"].channel(name).send(b"shipped")
        heard = reader.channel(name).receive_envelope(SECONDS)
        assert heard is not None
        self.assertEqual(heard.attested, true.attested)

    def test_joining(self) -> None:
        """from_ and require_issuers keep an agent out where they are not met, also of a link"""
        self.believe(ACME)
        reader = self.reader()
        true, false = self.badged("true", ACME), self.badged("false", FALSE)
        name, other = channel_name(), channel_name()
        for owner, each in ((true, name), (false, other)):
            owner.create(each)
        with self.assertRaisesRegex(StaticError, "not on this user's trust list"):
            reader.join_with_token(name, true.invite(name), SECONDS, from_="umbrella.org")
        with self.assertRaises(TypeError):
            reader.join_with_token(name, true.invite(name), SECONDS, from_=b"acme.com")  # type: ignore[arg-type]
        joins: List[Callable[[], object]] = [
            lambda: reader.join_with_token(other, false.invite(other), SECONDS, from_="acme.com"),
            lambda: reader.join(false.invite_link(other), SECONDS, from_="acme.com"),
            lambda: reader.join_or_open(other, false.invite(other), SECONDS, from_="acme.com"),
            lambda: reader.join_with_token(name, true.invite(name), SECONDS, require_issuers=True),
        ]
        for join in joins:
            with self.assertRaises(StaticError) as refused:
                join()
            self.assertEqual(refused.exception.code, "not_attested")
        self.assertEqual(reader.channels, [])
        reader.join(true.invite_link(name), SECONDS, from_="acme.com").send(b"hello")
        self.assertEqual(true.receive(name, SECONDS), b"hello")
        with self.assertRaises(StaticError) as open_already:
            reader.join_or_open(name, true.invite(name), SECONDS, require_issuers=True)
        self.assertEqual(open_already.exception.code, "not_attested")

    def test_required(self) -> None:
        """an owner requires badges; members without are named, and those that are over have their end"""
        owner, member = self.badged("owner", ACME), self.badged("member", ACME)
        name = channel_name()
        channel = owner.create(name)
        guest = self.reader()
        for agent in (member, guest):
            agent.join_with_token(name, owner.invite(name))
        until("all are in", lambda: len(channel.members()) == 3, 60.0)
        required = [Required("acme.com", ACME.x)]
        with self.assertRaises(StaticError) as lacking:
            channel.set_issuers(required)
        self.assertEqual(lacking.exception.code, "members_not_attested")
        channel.set_issuers(required, remove=[guest.agent_id])
        self.assertEqual(channel.issuers(), required)
        ends = {each.agent_id: each.badge_ends for each in channel.members()}
        self.assertEqual(set(ends), {owner.agent_id, member.agent_id})
        self.assertTrue(all(ends.values()))
        channel.set_issuers(None, remove=[member.agent_id])
        self.assertEqual(len(channel.members()), 1)
        self.assertEqual(channel.issuers(), required)
