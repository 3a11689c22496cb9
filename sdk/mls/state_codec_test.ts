import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { WireError } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { MlsFault } from "./codec.ts";
import {
  decodeCandidate,
  decodeChanges,
  decodeEpoch,
  decodePastEpoch,
  decodeProposalFrom,
  decodeRatchets,
  encodeCandidate,
  encodeChanges,
  encodeEpoch,
  encodeFrontier,
  encodePastEpoch,
  encodeProposalFrom,
  encodeRatchets,
  restoreSecretTree,
} from "./state_codec.ts";
import { World } from "./testing/world.ts";

/** One record of each kind, from one seed. */
async function records(): Promise<Record<string, Uint8Array>> {
  const world = new World(createRandom(5));
  const creator = await world.create();
  const other = world.newAgent();
  await world.add(creator, other);
  await world.commit(other, () => ({}));
  await creator.sync();
  await world.send(other, Uint8Array.of(1));
  await world.send(other, Uint8Array.of(2));
  const second = world.log.at(-1);
  assert(second);
  await creator.receive(second);
  const { current, past } = creator.member;
  const own = await world.newAgent().createKeyPackage();
  const before = past.get(1n);
  const ratchets = current.secretTree.leaves.get(other.member.current.ownLeaf);
  assert(before && ratchets);
  return {
    epoch: encodeEpoch(current),
    past: encodePastEpoch(before),
    frontier: encodeFrontier(current.secretTree),
    ratchets: encodeRatchets(ratchets),
    proposal: encodeProposalFrom({
      sender: 1,
      proposal: { proposalType: "remove", remove: { removed: 0 } },
    }),
    owners: encodeChanges(creator.member.changes),
    candidate: encodeCandidate(
      await creator.member.prepare({ owners: [creator.id, other.id], add: [own.keyPackage] }),
    ),
  };
}

const decoders: Readonly<Record<string, (record: Uint8Array) => Uint8Array>> = {
  epoch: (record) => encodeEpoch(decodeEpoch(record)),
  past: (record) => encodePastEpoch(decodePastEpoch(record)),
  proposal: (record) => encodeProposalFrom(decodeProposalFrom(record)),
  ratchets: (record) => encodeRatchets(decodeRatchets(record)),
  owners: (record) => encodeChanges(decodeChanges(record)),
  candidate: (record) => encodeCandidate(decodeCandidate(record)),
};

Deno.test("every stored record decodes and encodes back to the same bytes", async () => {
  const all = await records();
  for (const [name, again] of Object.entries(decoders)) {
    const record = all[name];
    assert(record);
    assertEquals(again(record), record, name);
  }
  const epoch = decodeEpoch(all["epoch"] ?? new Uint8Array(0));
  const place = { ...epoch, nodeCount: epoch.tree.nodeCount };
  const tree = restoreSecretTree(place, all["frontier"] ?? new Uint8Array(0), []);
  assertEquals(encodeFrontier(tree), all["frontier"]);
});

Deno.test("records stay readable, and are written as they were: frozen bytes", async () => {
  const frozen: Record<string, string> = JSON.parse(
    await Deno.readTextFile(new URL("testdata/state.json", import.meta.url)),
  );
  for (const [name, again] of Object.entries(decoders)) {
    assertEquals(bytesToHex(again(hexToBytes(frozen[name] ?? ""))), frozen[name], name);
  }
});

Deno.test("a record that is cut or of another shape is refused", async () => {
  const all = await records();
  for (const [name, again] of Object.entries(decoders)) {
    const record = all[name];
    assert(record);
    for (const length of [0, 1, 5, record.length - 1]) {
      assertThrows(() => again(record.subarray(0, length)), WireError);
    }
    assertThrows(() => again(Uint8Array.of(0x81, 1)), MlsFault, "malformed");
    assertThrows(() => again(Uint8Array.of(1)), MlsFault, "malformed");
  }
});
