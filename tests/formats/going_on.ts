/** Everything that `make_fixture.ts` left open, taken up again: what must hold whatever version wrote the fixture. */
import { assertEquals } from "@std/assert";
import { type ChannelManager, StaticError } from "../../sdk/mod.ts";
import { until } from "../support/scenario/stage.ts";
import type { OpenedFixture } from "./opened_fixture.ts";

/** The relay's format from which on they are about a leaf. */
const leafStatements = 3;
const [deploy, old] = ["acme/ops/deploy", "acme/ops/old"];

async function receive(manager: ChannelManager, count: number): Promise<string[]> {
  const texts: string[] = [];
  for (let i = 0; i < count; i++) {
    texts.push(new TextDecoder().decode(await manager.receive(deploy, { timeoutMs: 20_000 })));
  }
  return texts;
}

function isNotFound(error: unknown): boolean {
  return error instanceof StaticError && error.code === "not_found";
}

/** Agents read on where they were, exactly; what waited is settled; then all of them, and a newcomer, talk. */
export async function goOn(opened: OpenedFixture, relayFormat: number): Promise<void> {
  const bob = await opened.manager("bob");
  assertEquals(await receive(bob, 2), ["unread by bob 1", "unread by bob 2"]);
  const alice = await opened.manager("alice");
  assertEquals(await receive(alice, 1), ["unread by alice"]);

  const left = await alice.channel(old);
  // Statements to leave were about an epoch then: nobody can judge one any more, so it takes an owner to act on it.
  if (relayFormat < leafStatements) {
    const gone = left.members().find(({ owner }) => !owner);
    if (gone !== undefined) await left.removeMember(gone.agentId);
  }
  await until("alice has removed bob, who had left", () => left.members().length === 1);

  const invited = await opened.client("carol");
  await until("carol's Welcome has come", () =>
    invited.joinChannel(deploy).then(() => true, (error) => {
      if (isNotFound(error)) return false;
      throw error;
    }));
  await invited.close();
  const carol = await opened.manager("carol");
  assertEquals(await receive(carol, 3), ["unread by bob 1", "unread by bob 2", "unread by alice"]);

  const erin = await opened.manager("erin");
  await erin.joinWithToken(deploy, opened.fixture.invite, { timeoutMs: 20_000 });
  const all = { alice, bob, carol, erin };
  for (const [name, sender] of Object.entries(all)) {
    await sender.send(deploy, `${name} is back`);
    const others = Object.values(all).filter((other) => other !== sender);
    assertEquals(await Promise.all(others.map((other) => receive(other, 1))), others.map(() => [`${name} is back`]));
  }
  const channels = await Promise.all(Object.values(all).map((manager) => manager.channel(deploy)));
  assertEquals(new Set(channels.map((channel) => channel.fingerprint())).size, 1, "members disagree about the group");
  // The commit that the relay never saw was given up: dave is nobody's member.
  const members = channels[0]?.members().map(({ identity }) => identity);
  assertEquals(members?.toSorted(), Object.keys(all));
}
