/**
 * Stolen state in large channels, in simulated time: real groups of the full size, and real healing
 * times. A few members are online, the others only have leaves. A thief that copied one member's
 * disk reads until that member's next commit.
 */
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals } from "@std/assert";
import { createRandom } from "../../tests/support/mod.ts";
import { type Agent, createSignatures, World } from "../mls/testing/world.ts";
import { createNodeEd25519 } from "../platform/node_ed25519.ts";
import { createNodeX25519 } from "../platform/node_key_agreement.ts";
import { healingMs } from "./upkeep/healing_pace.ts";

const stress = Deno.env.get("STATIC_STRESS") === "1";
const hourMs = 3_600_000;
const online = 4;
/** More do not fit into a commit. */
const addedAtOnce = 400;

interface Keys {
  readonly agent: Agent;
  atMs: number;
}

function dueMs({ agent, atMs }: Keys, members: number): number {
  return healingMs({ atMs, leaf: bytesToHex(agent.leafHash) }, members, undefined);
}

async function createChannel(
  members: number,
): Promise<{ readonly world: World; readonly agents: readonly Agent[] }> {
  const signatures = await createSignatures({
    ed25519: createNodeEd25519(),
    x25519: createNodeX25519(),
  });
  const world = new World(createRandom(50), { signatures });
  const owner = await world.create();
  const others = Array.from({ length: online - 1 }, () => world.newAgent());
  await world.add(owner, ...others);
  const silent = Array.from({ length: members - online }, () => world.newAgent());
  for (let from = 0; from < silent.length; from += addedAtOnce) {
    const some = await Promise.all(
      silent.slice(from, from + addedAtOnce).map((agent) => agent.createKeyPackage()),
    );
    await world.commit(owner, () => ({ add: some.map(({ keyPackage }) => keyPackage) }));
  }
  const agents = [owner, ...others];
  for (const agent of agents) await agent.sync();
  return { world, agents };
}

for (const [members, withinHours] of [[50, 24], ...(stress ? [[1000, 7 * 24]] : [])] as const) {
  Deno.test(`a thief of one member's disk is out of a channel of ${members} within ${withinHours} hours`, async () => {
    const { world, agents } = await createChannel(members);
    const victim = agents[1];
    assert(victim);
    assertEquals(victim.member.current.tree.memberCount, members);
    const keys: Keys[] = agents.map((agent, index) => ({ agent, atMs: -index * hourMs }));
    const thief = await victim.stolen();
    let at = world.log.length;
    let isOut = false;
    const heard: string[] = [];
    const readOn = async (): Promise<void> => {
      for (; at < world.log.length; at++) {
        const entry = world.log[at];
        if (entry === undefined || isOut) continue;
        const { outcome } = await thief.receive(entry.bytes, entry.rules ?? (() => undefined));
        if (outcome.kind === "message") heard.push(new TextDecoder().decode(outcome.payload));
        if (entry.kind === "commit" && outcome.kind !== "commit") isOut = true;
      }
    };
    let nowMs = 0;
    for (let commits = 0; !isOut && commits < 2 * online; commits++) {
      const next = keys.toSorted((one, other) => dueMs(one, members) - dueMs(other, members))[0];
      assert(next);
      nowMs = dueMs(next, members);
      await world.commit(next.agent, () => ({ forcePath: true }));
      next.atMs = nowMs;
      for (const agent of agents) await agent.sync();
      assert(await world.send(next.agent, utf8ToBytes(`${commits}`)));
      for (const agent of agents) if (agent !== next.agent) await agent.sync();
      await readOn();
      assertEquals(
        isOut,
        next.agent === victim,
        "commits of others do not help, and the victim's own does",
      );
    }
    assert(isOut && nowMs <= withinHours * hourMs, `${nowMs / hourMs} hours`);
    const [owner] = agents;
    assert(owner && await world.send(owner, utf8ToBytes("after")));
    for (const agent of agents.slice(1)) assertEquals((await agent.sync()).at(-1)?.kind, "message");
    assert(heard.length > 0 && !heard.includes("after"));
    const { outcome } = await thief.receive(
      world.log.at(-1)?.bytes ?? new Uint8Array(0),
      () => undefined,
    );
    assert(outcome.kind !== "message", "the thief reads on");
  });
}
