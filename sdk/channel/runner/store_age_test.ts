import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { assertEquals } from "@std/assert";
import { commitStatement, parseChannelId } from "../../../proto/mod.ts";
import { portableSignatures } from "../../mls/testing/portable_signatures.ts";
import { createMemoryDisk, openMemory } from "../../store/memory.ts";
import { RecordStore } from "../../store/mod.ts";
import { newAnchor } from "../connection/anchor.ts";
import { storedChannel } from "../testing/stored_channel.ts";
import { type ReadOwnReply, StoreAge, type StoreAgeDeps } from "./store_age.ts";

const channelId = parseChannelId("A".repeat(22));
const membership = { channelId, epoch: 3, durable: { isUnknownOwn: () => Promise.resolve(false) } };

async function createStore(): Promise<RecordStore> {
  return await RecordStore.open(
    openMemory(createMemoryDisk(), (length) => crypto.getRandomValues(new Uint8Array(length))),
  );
}

/** Of an agent that has joined and done nothing else. */
function createAge(): StoreAge {
  // cast: no more is asked here
  return new StoreAge({ anchor: newAnchor(undefined), membership }, {} as StoreAgeDeps);
}

Deno.test("a commit that is given up does not undo what was written of the membership before its turn", async () => {
  const store = await createStore();
  const age = createAge();
  const hash = new Uint8Array(32).fill(7);
  const change = age.discarded({ epoch: 3, hash });
  // The group is busy; meanwhile the relay says where the membership began, which is written at
  // once.
  await store.batch([age.noted({ ...age.anchor, joinedSequence: 5 })]);
  await store.batch([change()]);
  assertEquals((await storedChannel(store, channelId)).anchor, {
    ...newAnchor(5),
    discarded: [{ epoch: 3, hash }],
  });
  await store.close();
});

Deno.test("a commit of our own from an earlier membership does not prove that the store is old, a later one does", async () => {
  const isProofIn = async (epoch: number): Promise<boolean> => {
    const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
    const signingSeed = random(32);
    const identity = {
      identity: random(8),
      signingSeed,
      signatureKey: ed25519.getPublicKey(signingSeed),
    };
    const made = {
      epoch,
      generation: 0,
      added: [],
      removed: [],
      state: random(32),
      nextState: random(32),
    };
    const commit = random(100);
    const statement = commitStatement({
      ...made,
      channelId,
      commitHash: sha256(commit),
      owners: undefined,
    });
    const signature = portableSignatures.sign(signingSeed, statement);
    const deps = { identity, signatures: portableSignatures };
    const age = new StoreAge({ anchor: newAnchor(5, { formerEpoch: 7 }), membership }, deps);
    // cast: no more of it is looked at
    const entry = { commit: { ...made, commit, signature } } as unknown as ReadOwnReply;
    return await age.isUnknownOwn(entry, false);
  };
  assertEquals(await isProofIn(7), false);
  assertEquals(await isProofIn(8), true);
});
