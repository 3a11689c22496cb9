/**
 * The part of `bench/mls.ts` that is bundled: messages of 1 KiB, padded to a cell as channels pad
 * them, add, process and join, and the cost of a message on disk. OpenMLS gets a payload that makes
 * its messages as long as ours.
 */
import process from "node:process";
import {
  type Agent,
  createCellPadding,
  createSignatures,
  encodeRatchets,
  Group,
  name as channelName,
  type PreparedCommit,
  World,
} from "../../sdk/mls/testing/world.ts";
import { createNodeEd25519 } from "../../sdk/platform/node_ed25519.ts";
import { createNodeX25519 } from "../../sdk/platform/node_key_agreement.ts";
import { limits } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { reportRatio } from "../ratio.ts";
import { loadOpenMls, type OpenMlsGroup } from "./open_mls.ts";

const sizes = process.argv.slice(2).map(Number);
const MlsClient = await loadOpenMls();
const payload = new Uint8Array(1024).fill(7);
/** Bytes of a message's authenticated data. */
const messageAadBytes = 42;

type Measure = { readonly name: string; readonly ours: number; readonly theirs: number };

/** Median of single runs, in milliseconds. */
async function median(count: number, act: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await act();
    times.push(performance.now() - started);
  }
  return middle(times);
}

/**
 * A group of `size`: its creator, one reader that follows every commit, and room to add and join
 * more.
 */
async function createOurs(size: number): Promise<{ world: World; creator: Agent; reader: Agent }> {
  const signatures = await createSignatures({
    ed25519: createNodeEd25519(),
    x25519: createNodeX25519(),
  });
  const world = new World(createRandom(7), { signatures });
  const creator = await world.create();
  const reader = world.newAgent();
  await world.add(creator, reader);
  const others = Array.from({ length: size - 2 }, () => world.newAgent());
  for (let at = 0; at < others.length; at += 200) {
    const packages = await Promise.all(
      others.slice(at, at + 200).map((agent) => agent.createKeyPackage()),
    );
    await world.commit(creator, () => ({ add: packages.map(({ keyPackage }) => keyPackage) }));
  }
  await reader.sync();
  return { world, creator, reader };
}

function createTheirs(size: number): { creator: OpenMlsGroup; reader: OpenMlsGroup } {
  const creator = new MlsClient("creator").createGroup("group");
  const readerClient = new MlsClient("reader");
  const first = creator.add(readerClient.keyPackage());
  const reader = readerClient.joinGroup(first.welcome, first.ratchetTree);
  for (let i = 2; i < size; i++) {
    const added = creator.add(new MlsClient(`member ${i}`).keyPackage());
    reader.receive(added.proposal);
    reader.receive(added.commit);
  }
  return { creator, reader };
}

async function messages(size: number): Promise<Measure[]> {
  const { creator, reader } = await createOurs(size);
  const padding = createCellPadding(limits.cellBytes);
  const sealer = Group.restore(creator.member.parts, { ...creator.deps, padding });
  const theirs = createTheirs(Math.min(size, 100));
  const sealed: Record<"ours" | "theirs", Uint8Array[]> = { ours: [], theirs: [] };
  const seal = async (): Promise<void> => {
    sealed.ours.push((await sealer.seal(payload, new Uint8Array(messageAadBytes))).message);
  };
  const receive = async (): Promise<void> => {
    const { kind } = await reader.member.receive(sealed.ours.shift() ?? payload, () => undefined);
    if (kind !== "message") throw new Error(kind);
  };
  await seal();
  const bytes = sealed.ours[0]?.length ?? 0;
  const theirPayload = new Uint8Array(payload.length + bytes - theirs.creator.send(payload).length);
  const sealTheirs = (): number => sealed.theirs.push(theirs.creator.send(theirPayload));
  const receiveTheirs = (): unknown => theirs.reader.receive(sealed.theirs.shift() ?? payload);
  const sealing = await alternate(seal, sealTheirs);
  console.log(`  ${size} members: messages of ${bytes} bytes, theirs ${sealed.theirs[0]?.length}`);
  const receiving = await alternate(receive, receiveTheirs);
  const [record] = Array.from(
    reader.member.current.secretTree.leaves.values(),
    (ratchets) => encodeRatchets(ratchets),
  );
  console.log(`  ${size} members: state written per message ${record?.length} bytes`);
  return [
    { name: `seal 1 KiB, ${size}`, ...sealing },
    { name: `receive 1 KiB, ${size}`, ...receiving },
  ];
}

/**
 * Medians of both, in turns of a hundred, so that what else the machine does meets both alike. The
 * first turns warm up.
 */
async function alternate(
  ours: () => Promise<unknown>,
  theirs: () => unknown,
): Promise<{ readonly ours: number; readonly theirs: number }> {
  const [warmUps, turns, perTurn] = [4, 9, 100];
  const medians: Record<"ours" | "theirs", number[]> = { ours: [], theirs: [] };
  for (let turn = 0; turn < warmUps + turns; turn++) {
    const both = { ours: await median(perTurn, ours), theirs: await median(perTurn, theirs) };
    if (turn < warmUps) continue;
    medians.ours.push(both.ours);
    medians.theirs.push(both.theirs);
  }
  return { ours: middle(medians.ours), theirs: middle(medians.theirs) };
}

function middle(list: number[]): number {
  return list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN;
}

const operations = ["add", "process", "join"] as const;
type Times = Readonly<Record<typeof operations[number], number[]>>;

function noTimes(): Times {
  return { add: [], process: [], join: [] };
}

/** Ours and theirs in turns, round by round. */
async function membership(size: number): Promise<Measure[]> {
  const { world, creator, reader } = await createOurs(size);
  // Building a thousand members one by one takes OpenMLS-WASM minutes; it is measured up to a
  // hundred.
  const theirs = size > 100 ? undefined : createTheirs(size);
  const rounds = size >= 1000 ? 3 : 9;
  const [ourTimes, theirTimes] = [noTimes(), noTimes()];
  for (let i = 0; i < rounds; i++) {
    await addOurs({ world, creator, reader }, ourTimes);
    if (theirs !== undefined) await addTheirs(theirs, `joiner ${i}`, theirTimes);
  }
  return operations.map((name) => ({
    name: `${name}, ${size} members`,
    ours: middle(ourTimes[name]),
    theirs: middle(theirTimes[name]),
  }));
}

/** The group alone, as on the other side: what the disk adds is bench/store.ts. */
async function addOurs(
  { world, creator, reader }: Awaited<ReturnType<typeof createOurs>>,
  times: Times,
): Promise<void> {
  const joiner = world.newAgent();
  await joiner.createKeyPackage();
  const { own, deps } = joiner;
  if (own === undefined) throw new Error("a joiner has no KeyPackage");
  const commits: PreparedCommit[] = [];
  times.add.push(
    await median(1, async () => {
      const prepared = await creator.member.prepare({ add: [own.keyPackage] });
      await creator.member.accept(prepared);
      commits.push(prepared);
    }),
  );
  const { message = payload, welcome = payload } = commits[0] ?? {};
  times.process.push(await median(1, () => reader.member.receive(message, () => undefined)));
  times.join.push(await median(1, () => Group.join(welcome, own, deps, { name: channelName })));
}

async function addTheirs(
  { creator, reader }: ReturnType<typeof createTheirs>,
  name: string,
  times: Times,
): Promise<void> {
  const client = new MlsClient(name);
  const keyPackage = client.keyPackage();
  const added: ReturnType<OpenMlsGroup["add"]>[] = [];
  times.add.push(await median(1, () => added.push(creator.add(keyPackage))));
  const [{ proposal, commit, welcome, ratchetTree } = creator.add(keyPackage)] = added;
  times.process.push(
    await median(1, () => {
      reader.receive(proposal);
      reader.receive(commit);
    }),
  );
  times.join.push(await median(1, () => client.joinGroup(welcome, ratchetTree)));
}

const { deno, node } = process.versions;
console.log(
  `mls, suite 3, ${process.arch}, ${deno === undefined ? `Node ${node}` : `Deno ${deno}`}`,
);
const results: Measure[] = [];
for (const size of sizes) results.push(...await messages(size), ...await membership(size));
console.log(
  `${"".padEnd(26)} ${"ours ms".padStart(9)} ${"OpenMLS".padStart(9)} ${
    "theirs/ours".padStart(12)
  }`,
);
for (const { name, ours, theirs } of results) {
  const ratio = Number.isNaN(theirs) ? "" : (theirs / ours).toFixed(2);
  const comparison = {
    bench: "mls",
    what: name,
    unit: "ms",
    ours,
    peer: "OpenMLS (WASM)",
    theirs,
    ratio: theirs / ours,
  };
  const target = targetOf(name);
  reportRatio(target === undefined ? comparison : { ...comparison, target });
  console.log(
    `${name.padEnd(26)} ${ours.toFixed(2).padStart(9)} ${theirs.toFixed(2).padStart(9)} ${
      ratio.padStart(12)
    }`,
  );
}

/** Promised for messages whatever the size of the group, for the rest at 100 members. */
function targetOf(name: string): number | undefined {
  const inDeno = deno !== undefined;
  if (/^seal/.test(name)) return inDeno ? 2.5 : 1;
  if (/^receive/.test(name)) return inDeno ? 2 : 1;
  if (!/ 100 members/.test(name)) return undefined;
  return !inDeno ? 0.6 : /^add/.test(name) ? 0.9 : 1;
}
