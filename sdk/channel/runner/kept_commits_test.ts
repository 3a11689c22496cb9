import { sha256 } from "@noble/hashes/sha2.js";
import { assertEquals } from "@std/assert";
import { parseChannelId } from "../../../proto/mod.ts";
import { createError } from "../../base/errors.ts";
import { createMemoryDisk, openMemory } from "../../store/memory.ts";
import { RecordStore } from "../../store/mod.ts";
import type { ChannelDeps } from "../deps.ts";
import { KeptCommits } from "./kept_commits.ts";
import type { Membership } from "../group/membership.ts";

const channelId = parseChannelId("A".repeat(22));
const random = (length: number): Uint8Array<ArrayBuffer> =>
  crypto.getRandomValues(new Uint8Array(length));

Deno.test("a commit that was not kept is not put back, nor said to be, though an older one has its place", async () => {
  const store = await RecordStore.open(openMemory(createMemoryDisk(), random));
  const made = {
    channelId,
    epoch: 8,
    generation: 0,
    added: [],
    removed: [],
    welcomes: [],
    answers: [],
  };
  const old = {
    ...made,
    commit: random(100),
    state: random(32),
    nextState: random(32),
    signature: random(64),
  };
  const sent: number[] = [];
  // The log holds the old one, and ends in epoch 40.
  const call = (
    operation: "SendCommit" | "FindCommit",
    { epoch }: { epoch: number },
  ): Promise<unknown> => {
    if (operation === "FindCommit") {
      return Promise.resolve({ epoch: 40, ...(epoch === 8 && { commit }) });
    }
    sent.push(epoch);
    return Promise.reject(createError("epoch_conflict", "The epoch is over"));
  };
  const commit = { sequence: 9, commitHash: sha256(old.commit) };
  const deps = {
    store,
    session: { call },
    identity: { signatureKey: random(32), identity: random(8) },
  };
  // Casts: no more is asked here.
  const kept = new KeptCommits(
    { channelId, epoch: 41 } as unknown as Membership,
    deps as unknown as ChannelDeps,
  );
  await store.batch(kept.keep(old));
  assertEquals([await kept.putBack(40), sent], [{ commits: 0, own: 0, sequence: 0 }, []]);
  assertEquals([await kept.putBack(8), sent], [{ commits: 1, own: 0, sequence: 9 }, [8]]);
  await store.close();
});
