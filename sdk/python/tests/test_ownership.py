"""Owners, policy and keys: what owners may, what others may not, and how the last owner hands over."""

import asyncio
from typing import Callable

from place import PairCase, channel_name, service, until
from static_sdk import ChannelError, ChannelManager, InvalidArgumentError, aio
from static_sdk.values import post_quantum_of, preview_of


class Ownership(PairCase):
    def refused(self, act: Callable[[], object], code: str = "not_allowed", says: str = "") -> None:
        with self.assertRaises(ChannelError) as refusal:
            act()
        self.assertEqual(refusal.exception.code, code)
        self.assertIn(says, str(refusal.exception))

    def test_owners_and_policy(self) -> None:
        """an owner promotes, demotes and sets the policy; what others may not do raises not_allowed
        and changes nothing
        """
        alice, bob = self.alice, self.bob
        name = self.meet(alice, bob)
        mine, theirs = alice.channel(name), bob.channel(name)
        me = next(member for member in mine.members() if member.self)
        other = next(member for member in mine.members() if not member.self)
        self.assertEqual((mine.policy().admission, mine.policy().posting), ("members", "members"))
        self.refused(lambda: theirs.promote(other))
        self.refused(lambda: theirs.set_policy(posting="owners"))
        mine.set_policy(admission="owners", posting="owners")
        until("bob follows", lambda: theirs.policy().posting == "owners")
        self.refused(lambda: theirs.send(b"may I?"))
        self.refused(lambda: bob.invite(name))
        mine.promote(other)
        until("bob is an owner", lambda: all(member.owner for member in theirs.members()))
        theirs.send(b"now I may")
        self.assertEqual(alice.receive(name, 30.0), b"now I may")
        theirs.demote(me.agent_id)
        until("alice is none", lambda: [member.owner for member in mine.members() if member.self] == [False])
        self.assertEqual(mine.policy().admission, "owners")
        self.refused(lambda: theirs.demote(other), "successor_needed")
        self.refused(theirs.recover, says="not stopped")
        self.refused(theirs.preview_recovery, says="not stopped")
        with self.assertRaises(InvalidArgumentError):
            theirs.recover(without=[], keep=[me])

    def test_post_quantum(self) -> None:
        """health says whether recordings stay closed; a channel requires keys or prefers them"""
        said = []
        for choice in (None, "require", "prefer"):
            name = channel_name()
            if choice is None:
                self.alice.create(name)
            else:
                self.alice.create(name, post_quantum=choice)
            known = self.alice.channel(name).health().post_quantum
            said.append((known.state, known.since, known.required, known.until))
        self.assertEqual(said, [("all", 0, True, None), ("all", 0, True, None), ("all", 0, False, None)])
        with self.assertRaises((ChannelError, InvalidArgumentError)):
            self.alice.create(channel_name(), post_quantum="always")
        lost = {"state": "partly", "since": 0, "until": 7, "learnedMs": 1500, "because": "x", "by": None}
        partly = post_quantum_of(lost)
        self.assertEqual((partly.until, partly.learned_time, partly.because, partly.by), (7, 1.5, "x", None))

    def test_preview(self) -> None:
        """a preview names who would be out, and why, under Python names"""
        left_out = [
            {"agentId": "b", "identity": "bob", "because": "blamed"},
            {"agentId": "x", "identity": "", "because": "let_in", "letInBy": "b", "seenMs": 1500},
        ]
        preview = preview_of({"blamed": "b", "members": 4, "leftOut": left_out, "choiceNeeded": True})
        self.assertEqual((preview.blamed, preview.members, preview.choice_needed), ("b", 4, True))
        newest = preview.left_out[1]
        self.assertEqual((newest.agent_id, newest.because, newest.let_in_by, newest.seen_time), ("x", "let_in", "b", 1.5))

    def test_keys_and_successor(self) -> None:
        """rotate changes this agent's keys; where owners have rights the last one leaves only with
        a successor
        """
        alice, bob = self.alice, self.bob
        name = self.meet(alice, bob)
        mine, theirs = alice.channel(name), bob.channel(name)
        before = mine.fingerprint()
        mine.rotate()
        until("both agree", lambda: mine.fingerprint() == theirs.fingerprint() != before)
        mine.set_policy(posting="owners")
        self.refused(mine.leave, "successor_needed")
        mine.leave(successor=next(member for member in mine.members() if not member.self))
        until("bob is alone", lambda: [member.owner for member in theirs.members()] == [True])

    def test_replaces(self) -> None:
        """an agent under a member's name raises identity_present, unless an owner names that member
        as replaces
        """
        alice, bob = self.alice, self.bob
        name = self.meet(alice, bob)
        mine = alice.channel(name)
        held = next(member for member in mine.members() if not member.self)
        again = ChannelManager(data_dir=f"{self.folder}/again", identity=b"bob", **service())
        self.addCleanup(again.close)
        self.refused(lambda: again.join_with_token(name, alice.invite(name)), "identity_present", held.agent_id)
        self.refused(lambda: mine.add_member(again.client.generate_key_package()), "identity_present")
        self.refused(lambda: bob.invite(name, replaces=held))
        with self.assertRaises(TypeError):
            alice.invite(name, replaces=5)  # type: ignore[arg-type]
        again.join_with_token(name, alice.invite(name, replaces=held))
        until("bob is another agent", lambda: {each.agent_id for each in mine.members()} == {alice.client.agent_id, again.client.agent_id})
        welcome = mine.add_member(bob.client.generate_key_package(), replaces=again.client.agent_id)
        bob.client.join_channel(name, welcome)
        self.assertEqual({each.agent_id for each in mine.members()}, {alice.client.agent_id, bob.client.agent_id})

    def test_async(self) -> None:
        """the same calls exist for asyncio"""
        name = channel_name()

        async def act() -> None:
            async with await aio.ChannelManager.connect(data_dir=f"{self.folder}/owner", identity=b"owner", **service()) as manager:
                channel = await manager.create(name)
                token = await manager.invite(name)
                await asyncio.get_running_loop().run_in_executor(None, self.bob.join_with_token, name, token)
                await channel.set_policy(admission="owners")
                self.assertEqual((await channel.policy()).admission, "owners")
                await channel.rotate()
                other = next(member for member in await channel.members() if not member.self)
                await channel.promote(other)
                await channel.demote(other)
                await manager.invite(name, replaces=other)

        asyncio.run(act())
