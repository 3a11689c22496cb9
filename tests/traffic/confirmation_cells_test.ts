// Whether members confirm epochs cannot be counted in cells: the same hour with and without
// confirmations has the same cells at the same times, both ways. The SDK's session and the relay's
// cells on simulated time, without sockets.
import { ed25519 } from "@noble/curves/ed25519.js";
import { assert, assertEquals } from "@std/assert";
import { parseChannelName } from "../../proto/mod.ts";
import {
  createWorld,
  defaultCoreConfig,
  startMs,
  tokenOf,
  type World,
} from "../../relay/core/testing/world.ts";
import { openCellLine } from "../../relay/testing/cell_line.ts";
import { type CoverOptions, StaticClient } from "../../sdk/mod.ts";
import { createNodeEd25519 } from "../../sdk/platform/node_ed25519.ts";
import {
  type Connector,
  createRelaySession,
  parseEndpoints,
} from "../../sdk/session/testing/mod.ts";
import {
  Agent,
  createMemoryDisk,
  createSignatures,
  Inside,
  openIdentity,
  openMemory,
  RecordStore,
} from "../../sdk/testing/agents.ts";
import { createRandom, seedFromEnvironment } from "../support/mod.ts";

const name = parseChannelName("acme/traffic/halves");
const dayMs = 24 * 60 * 60 * 1000;

class Scene {
  readonly world: World;
  readonly cells: string[] = [];
  readonly #seed: number;
  readonly #agents: Agent[] = [];

  constructor(world: World, seed: number) {
    this.world = world;
    this.#seed = seed;
  }

  async agent(label: string, cover: CoverOptions, confirms: boolean): Promise<Agent> {
    const random = createRandom(this.#seed + this.#agents.length + 1);
    const { core, time: { nowMs, after: afterTime } } = this.world;
    // Whole milliseconds, as clocks have them.
    const after = (ms: number, run: () => void): () => void => afterTime(Math.ceil(ms), run);
    const runtime = { nowMs, after, randomBytes: (length: number) => random.bytes(length) };
    // Of its own: what is written more often must not change what else is drawn.
    const diskRandom = createRandom(this.#seed + 200 + this.#agents.length);
    const store = await RecordStore.open(
      openMemory(createMemoryDisk(), (length) => diskRandom.bytes(length)),
    );
    const identity = await openIdentity(store, new TextEncoder().encode(label), runtime);
    const relayRandom = createRandom(this.#seed + 100 + this.#agents.length);
    const connector: Connector = {
      transport: "quic",
      carrier: "udp",
      unusable: () => undefined,
      connect: () => {
        const onCell = (direction: string, atMs: number): void => {
          this.cells.push(`${label} ${direction} ${atMs}`);
        };
        return Promise.resolve(
          openCellLine({ core, nowMs, after, onCell, random: () => relayRandom.below(1e9) / 1e9 }),
        );
      },
    };
    const { signatureKey, signingSeed } = identity;
    const session = createRelaySession({
      endpoints: parseEndpoints("quic://localhost:4433", { caCerts: [], certificateHashes: [] }),
      identity: identity.identity,
      publicKey: signatureKey,
      sign: (message) => ed25519.sign(message, signingSeed),
      cover,
    }, {
      ...runtime,
      steadyMs: () => runtime.nowMs(),
      connectors: [connector],
      tokens: { renewable: true, get: () => Promise.resolve(tokenOf(1, startMs + 30 * dayMs)) },
    });
    if (!confirms) session.confirm = () => {};
    const signatures = await createSignatures({ ed25519: createNodeEd25519() });
    const agent = await Agent.open({ store, session, runtime, signatures, identity });
    this.#agents.push(agent);
    return agent;
  }

  async finish<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const watched = promise.finally(() => settled = true);
    watched.catch(() => {}); // it is awaited below
    for (let steps = 0; !settled && steps < 20_000; steps++) await this.world.time.advance(20);
    return await watched;
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) await this.finish(agent.close());
    await this.finish(this.world.close());
  }
}

interface Played {
  readonly cells: readonly string[];
  /** Members that the first one knows to be in its group. */
  readonly confirmed: number;
}

/** Half an hour of a channel of three: every five minutes a commit, and a few messages. */
async function play(cover: CoverOptions, confirms: boolean, seed: number): Promise<Played> {
  const random = createRandom(seed);
  const limits = { ...defaultCoreConfig.limits, keyPackagesPerAgent: 0 };
  const scene = new Scene(
    await createWorld({ random: (length) => random.bytes(length), config: { limits } }),
    seed,
  );
  const agents: Agent[] = [];
  for (const label of ["alice", "bob", "carol"]) {
    agents.push(await scene.agent(label, cover, confirms));
  }
  const [alice, ...guests] = agents.map((agent) => StaticClient.over(agent));
  assert(alice !== undefined && agents[0] !== undefined && guests[0] !== undefined);
  const channel = await scene.finish(alice.createChannel(name));
  for (const guest of guests) {
    const welcome = await scene.finish(
      channel.addMember(await scene.finish(guest.generateKeyPackage())),
    );
    await scene.finish(guest.joinChannel(name, welcome));
  }
  const inside = await Inside.of(agents[0], name);
  const theirs = await guests[0].channel(name);
  for (let minute = 1; minute <= 30; minute++) {
    if (minute % 5 === 0) await scene.finish(inside.commit());
    if (minute % 7 === 0) await scene.finish(channel.send(`minute ${minute}`));
    if (minute % 11 === 0) await scene.finish(theirs.send(`minute ${minute}`));
    await scene.world.time.advance(60_000);
  }
  const { epoch, issues } = channel.health();
  assertEquals(issues, []);
  const confirmed =
    channel.members().filter(({ confirmedEpoch }) => confirmedEpoch === epoch).length;
  await scene.close();
  return { cells: scene.cells, confirmed };
}

const covers: Readonly<Record<string, CoverOptions>> = {
  "no cover": { mode: "off" },
  "standard cover": { profile: "standard" },
  "constant cover": { mode: "constant", intervalMs: 4_000 },
};

for (const [what, cover] of Object.entries(covers)) {
  Deno.test(`confirmations add no cell and move none: ${what}`, async () => {
    const seed = seedFromEnvironment();
    const [silent, confirming] = [await play(cover, false, seed), await play(cover, true, seed)];
    assertEquals(silent.confirmed, 1, "without them nothing is known of members that send nothing");
    assertEquals(confirming.confirmed, 3, "with them all of it is");
    assert(silent.cells.length > 100, `${silent.cells.length} cells`);
    assertEquals(confirming.cells, silent.cells, `seed ${seed}`);
  });
}
