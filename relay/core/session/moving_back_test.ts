/** Relays on one log whose sessions move back after a restart, on simulated time. */
import { assert, assertEquals, assertLess } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../../tests/support/random.ts";
import type { AgentId } from "../../../proto/mod.ts";
import type { ClusterListener } from "../cluster.ts";
import { createAgent, type TestAgent, type TestClient } from "../testing/client.ts";
import { quietCluster } from "../testing/quiet_cluster.ts";
import { SimulatedTime } from "../testing/simulated_time.ts";
import { createWorld, startMs, tokenOf, type World } from "../testing/world.ts";
import { movedAgainMs } from "./moving_back.ts";

const dayMs = 24 * 60 * 60 * 1000;
const agents = 300;
const relays = 3;

interface Relay {
  world: World;
  listener: ClusterListener | undefined;
}

interface Member {
  readonly agent: TestAgent;
  client: TestClient;
  at: number;
  /** When it was sent to another relay because that has fewer. */
  readonly movedMs: number[];
}

/** The relays' log and signs of life, in one process. */
class Fleet implements AsyncDisposable {
  readonly time = new SimulatedTime(startMs, 1);
  readonly relays: (Relay | undefined)[] = [];
  readonly members: Member[] = [];
  readonly #random = createRandom(seedFromEnvironment());
  readonly #movedMs = new Map<AgentId, number>();
  #sessions = 0;
  /** Agents know no other relay than the one that they are at. */
  stays = false;

  async start(place: number): Promise<void> {
    const relay: Partial<Relay> = { listener: undefined };
    const cluster = quietCluster({
      beginSession: () => Promise.resolve(++this.#sessions),
      others: () =>
        this.relays.flatMap((other) => other === relay ? [] : other?.listener?.load() ?? []),
      moved: (agentId, timeMs) => void this.#movedMs.set(agentId, timeMs),
      movedMs: (agentId) => this.#movedMs.get(agentId),
      isOnline: () => false,
      listen: (listener) => void (relay.listener = listener),
    });
    relay.world = await createWorld({ cluster, time: this.time });
    this.relays[place] = relay as Relay; // cast: it has both now
  }

  /** As an operator does: sessions are at others before it ends. */
  async restart(place: number): Promise<void> {
    const relay = this.relays[place];
    assert(relay !== undefined);
    const drained = relay.world.core.drain();
    await this.pass(6_000);
    await drained;
    this.relays[place] = undefined;
    await relay.world.close();
    await this.pass(5_000);
    await this.start(place);
  }

  async join(number: number): Promise<void> {
    const at = number % relays;
    const agent = createAgent(number);
    const member = { agent, at, client: await this.#connect(agent, at), movedMs: [] };
    this.members.push(member);
  }

  async #connect(agent: TestAgent, at: number): Promise<TestClient> {
    const client = this.relays[at]?.world.connect();
    assert(client !== undefined);
    await client.authenticate(agent, tokenOf(agent.secretKey[3] ?? 1, startMs + dayMs));
    return client;
  }

  /** Second by second: agents that were sent away go to another relay by chance. */
  async pass(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      await this.time.advance(1_000);
      for (const member of this.members) {
        const { ended } = member.client;
        if (ended === undefined) continue;
        assertEquals(ended?.code, "relay_draining");
        if (ended?.retryAfterMs === 0) member.movedMs.push(this.time.nowMs());
        const others = [...this.relays.keys()].filter((place) =>
          place !== member.at && this.relays[place] !== undefined
        );
        if (!this.stays) member.at = this.#random.pick(others);
        member.client = await this.#connect(member.agent, member.at);
      }
    }
  }

  get counts(): number[] {
    return this.relays.map((relay) => relay?.world.core.stats().authenticated ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const relay of this.relays) await relay?.world.close();
  }
}

async function createFleet(count: number): Promise<Fleet> {
  const fleet = new Fleet();
  for (let place = 0; place < relays; place++) await fleet.start(place);
  for (let number = 0; number < count; number++) await fleet.join(number);
  return fleet;
}

Deno.test("after three relays were restarted one by one, each has its part of the sessions within three minutes", async () => {
  await using fleet = await createFleet(agents);
  await fleet.pass(120_000);
  assertEquals(fleet.counts, [100, 100, 100]);
  for (let place = 0; place < relays; place++) {
    await fleet.restart(place);
    await fleet.pass(5_000);
  }
  assertEquals(fleet.counts[2], 0);
  await fleet.pass(180_000);
  for (const count of fleet.counts) assert(count >= 60 && count <= 140, String(fleet.counts));
  await fleet.pass(movedAgainMs);
  const { counts } = fleet;
  await fleet.pass(movedAgainMs);
  assertEquals(fleet.counts, counts, "nothing moves once it is even");
  for (const { movedMs } of fleet.members) {
    movedMs.slice(1).forEach((atMs, index) =>
      assert(atMs - (movedMs[index] ?? 0) >= movedAgainMs, String(movedMs))
    );
  }
  const moved = fleet.relays.reduce(
    (sum, relay) => sum + (relay?.world.meter.sessionsMoved ?? 0),
    0,
  );
  assertEquals(moved, fleet.members.flatMap(({ movedMs }) => movedMs).length);
});

Deno.test("agents that come back are asked once, and those with something under way never", async () => {
  await using fleet = await createFleet(0);
  await fleet.pass(70_000);
  for (let number = 0; number < 2 * relays; number++) await fleet.join(relays * number);
  fleet.stays = true;
  const busy = fleet.members[0];
  assert(busy !== undefined);
  for (let second = 0; second < 180; second++) {
    void busy.client.call("Ping", {});
    await fleet.pass(1_000);
  }
  assertEquals(busy.movedMs, []);
  const times = (): number[] => fleet.members.slice(1).map(({ movedMs }) => movedMs.length);
  assertEquals(times(), [1, 1, 1, 1, 1]);
  await fleet.pass(movedAgainMs + 60_000);
  for (const count of times()) assertLess(count, 2);
});
