import { assert, assertEquals, assertThrows } from "@std/assert";
import { bytesToHex } from "@noble/hashes/utils.js";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import type { LoadedRecord, RecordChange } from "../store/mod.ts";
import { encodeEpoch } from "./state_codec.ts";
import { perform } from "./job.ts";
import { RecordedGroup, type RecordedStep, reservedGenerations } from "./recorded_group.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { type Agent, rulesFor, World } from "./testing/world.ts";

const anything = (): undefined => undefined;
const payload = Uint8Array.of(1);

/** A runtime that signs and verifies messages with promises, as browsers do. */
const waiting: Signatures = {
  ...portableSignatures,
  signApplication: (...args) => Promise.resolve(portableSignatures.signApplication(...args)),
  verifyApplication: (...args) => Promise.resolve(portableSignatures.verifyApplication(...args)),
};

async function createTrio(
  signatures?: Signatures,
): Promise<{ world: World; agents: readonly [Agent, Agent, Agent] }> {
  const world = new World(createRandom(4), signatures && { signatures });
  const [a, b, c] = [await world.create(), world.newAgent(), world.newAgent()];
  await world.add(a, b, c);
  return { world, agents: [a, b, c] };
}

/** Records in memory, which have only what was returned to be written. */
class Disk {
  readonly #records = new Map<string, LoadedRecord>();

  write(changes: readonly RecordChange[]): void {
    for (const change of changes) {
      if (change.type === "put") {
        this.#records.set(change.id, { id: change.id, value: change.value.slice() });
      } else this.#records.delete(change.id);
    }
  }

  keep<T>({ result, write, over }: RecordedStep<T>): T {
    this.write(write);
    this.write(over);
    return result;
  }

  get stored(): readonly LoadedRecord[] {
    return [...this.#records.values()];
  }

  save({ member }: Agent): RecordedGroup {
    const { recorded, over, write } = RecordedGroup.save(member, this.stored, {});
    this.write([...over, ...write]);
    return recorded;
  }

  load({ deps }: Agent): RecordedGroup {
    const loaded = RecordedGroup.load(this.stored, {}, deps);
    assert(loaded);
    return loaded.recorded;
  }
}

function newest({ log }: World): Uint8Array {
  const { bytes } = log.at(-1) ?? {};
  assert(bytes);
  return bytes;
}

Deno.test("where the runtime's keys do not wait, a message is sealed and received in one call each", async () => {
  const { agents: [a, b] } = await createTrio();
  const sealed = a.member.seal(payload, payload);
  assert(!(sealed instanceof Promise));
  const outcome = b.member.receive(sealed.message, anything);
  assert(!(outcome instanceof Promise) && outcome.kind === "message");
});

Deno.test("where they wait, both halves come to the same bytes and the same outcome", async () => {
  const trios = [await createTrio(), await createTrio(waiting)];
  const messages = await Promise.all(trios.map(async ({ agents: [a, b] }) => {
    const sealed = a.member.seal(payload, payload);
    const { message } = await sealed;
    const received = b.member.receive(message, anything);
    assertEquals((await received).kind, "message");
    return { message, waits: [sealed, received].map((each) => each instanceof Promise) };
  }));
  assertEquals(messages.map(({ waits }) => waits), [[false, false], [true, true]]);
  assertEquals(messages[0]?.message, messages[1]?.message);
});

Deno.test("a signature that waits is waited for, also where a page has put another class in the place of Promise", async () => {
  const verdicts: boolean[] = [true, false];
  const { agents: [a, b] } = await createTrio({
    ...portableSignatures,
    signApplication: async (...args) => await portableSignatures.signApplication(...args),
    verifyApplication: async () => await verdicts.pop() === true,
  });
  const { message } = await a.member.seal(payload, payload);
  const theirs = globalThis.Promise;
  Reflect.set(globalThis, "Promise", class<T> extends theirs<T> {});
  try {
    assertEquals((await b.member.receive(message, anything)).kind, "undecryptable");
    assertEquals((await b.member.receive(message, anything)).kind, "message");
    await a.member.seal(payload, payload);
  } finally {
    Reflect.set(globalThis, "Promise", theirs);
  }
});

Deno.test("a key is used by the second half of a message alone: before it, and after a signature that is wrong, it is there", async () => {
  const { agents: [a, b] } = await createTrio();
  const { message } = await a.member.seal(payload, payload);
  const begun = b.member.beginReceive(message, anything);
  assert("work" in begun);
  assertEquals(begun.finish(false).kind, "undecryptable");
  assertEquals((await b.member.receive(message, anything)).kind, "message");
  assertEquals((await b.member.receive(message, anything)).kind, "duplicate");
  const sealing = a.member.beginSeal(payload, payload);
  const before = a.joined.usedKeys;
  sealing.finish(await sealing.work());
  assertEquals(a.joined.usedKeys, before + 1);
});

Deno.test("nothing is sealed with keys that were not returned to be written, also after a restart", async () => {
  const { agents: [a] } = await createTrio();
  const disk = new Disk();
  let recorded = disk.save(a);
  assertThrows(() => recorded.beginSeal(payload, payload), TypeError, "reserved");
  disk.write(recorded.reserve());
  for (let i = 0; i < 3; i++) await perform(recorded.beginSeal(payload, payload));
  recorded = disk.load(a);
  assertEquals(recorded.usedKeys, reservedGenerations);
  assert(recorded.needsKeys);
  disk.write(recorded.reserve());
  await perform(recorded.beginSeal(payload, payload));
  disk.write(recorded.giveBack());
  assertEquals(disk.load(a).usedKeys, reservedGenerations + 1);
});

Deno.test("what an operation returns to be written is all that a restart needs", async () => {
  const { world, agents: [a, b] } = await createTrio();
  const disk = new Disk();
  let recorded = disk.save(b);
  assert(await world.send(a, payload));
  const { receipt } = disk.keep(await perform(recorded.beginReceive(newest(world), anything)));
  assert(receipt);
  recorded = disk.load(b);
  const again = disk.keep(await perform(recorded.beginReceive(newest(world), anything)));
  assertEquals(again.outcome.kind, "message");
  assert(again.receipt);
  disk.write(recorded.consume(again.receipt));
  assertEquals(
    (await perform(disk.load(b).beginReceive(newest(world), anything))).result.outcome.kind,
    "duplicate",
  );

  const prepared = atOnce(recorded.beginPrepare({}));
  disk.write(recorded.keep(prepared));
  const other = atOnce(recorded.beginPrepare({}));
  assertThrows(() => recorded.keep(other), Error, "under way");
  const reloaded = RecordedGroup.load(disk.stored, {}, b.deps);
  assertEquals(reloaded?.candidate?.hash, prepared.hash);
  disk.write(recorded.discard());
  assertEquals(RecordedGroup.load(disk.stored, {}, b.deps)?.candidate, undefined);

  // Those that are given up are found again, until the group moves.
  const given = [prepared, other];
  for (const each of given) {
    if (each !== prepared) disk.write(recorded.keep(each));
    disk.write(recorded.give(each));
  }
  const hashesOf = (): string[] => {
    const loaded = RecordedGroup.load(disk.stored, {}, b.deps)?.given ?? [];
    return loaded.map(({ hash }) => bytesToHex(hash)).sort();
  };
  assertEquals(hashesOf(), given.map(({ hash }) => bytesToHex(hash)).sort());
  const last = atOnce(recorded.beginPrepare({ forcePath: true }));
  disk.write(recorded.keep(last));
  disk.write(recorded.give(last, prepared));
  assertEquals(hashesOf(), [other, last].map(({ hash }) => bytesToHex(hash)).sort());

  const taken = atOnce(recorded.beginPrepare({ forcePath: true }));
  disk.write(recorded.keep(taken));
  disk.keep(recorded.accept(taken));
  assertEquals(encodeEpoch(disk.load(b).group.current), encodeEpoch(recorded.group.current));
  assertEquals([hashesOf(), disk.stored.some(({ id }) => id.startsWith("given/"))], [[], false]);
});

Deno.test("a trial says where a commit leads, adopts nothing and uses up no key: afterwards it, or another one, is followed", async () => {
  const { world, agents: [a, b, c] } = await createTrio();
  await c.sync();
  const [first, other] = [
    await a.joined.prepare({ forcePath: true }),
    await c.joined.prepare({ forcePath: true }),
  ];
  const disk = new Disk();
  const recorded = disk.save(b);
  const { secretTree } = recorded.group.current;
  const chains = (): unknown => [[...secretTree.leaves], [...secretTree.subtrees]];
  const [before, epoch] = [chains(), recorded.group.current];
  for (const commit of [first, other, first]) {
    const { outcome, next } = recorded.tryFollow(commit.message, rulesFor(commit));
    assertEquals(outcome, { kind: "commit", epoch: commit.epoch + 1, summary: commit.summary });
    assertEquals(next?.confirmationTag, commit.next.confirmationTag);
  }
  const { outcome: forbidden } = recorded.tryFollow(first.message, () => "forbidden");
  assertEquals(forbidden, { kind: "refused", reason: "forbidden" });
  assertEquals(chains(), before);
  assertEquals(secretTree.takeDerived().size, 0);
  assert(recorded.group.current === epoch && recorded.group.parent === b.member.parent);

  // The one that the relay took. The other one lost, by the same sender's next key too.
  assert(world.submitCommit(c.id, other));
  const followed = disk.keep(await perform(recorded.beginReceive(other.message, rulesFor(other))));
  assertEquals(followed.outcome.kind, "commit");
  assertEquals(recorded.group.authenticator, other.next.secrets.authenticator);
  assertEquals(recorded.tryFollow(first.message, rulesFor(first)).outcome, {
    kind: "stale",
    epoch: first.epoch,
  });
  assertEquals(encodeEpoch(disk.load(b).group.current), encodeEpoch(recorded.group.current));
});

Deno.test("a trial of a message is refused, and the message is read in its turn", async () => {
  const { agents: [a, b] } = await createTrio();
  const { message } = await a.member.seal(payload, payload);
  assertEquals(b.member.tryFollow(message, anything).outcome, {
    kind: "refused",
    reason: "It is not a commit",
  });
  assertEquals((await b.member.receive(message, anything)).kind, "message");
});

Deno.test("a trial of a commit that cannot be kept says so, as receiving it does", async () => {
  const { world, agents: [a, b] } = await createTrio();
  const { recorded } = RecordedGroup.save(b.member, [], { maxValueBytes: 500 });
  await world.commit(a, () => ({}));
  const tried = recorded.tryFollow(newest(world), anything);
  assert(tried.outcome.kind === "refused" && tried.outcome.reason.includes("at most 500"));
  assertEquals(tried.next, undefined);
  const { result: { outcome } } = await perform(recorded.beginReceive(newest(world), anything));
  assertEquals(outcome.kind === "refused" && outcome.reason, tried.outcome.reason);
});

Deno.test("members of past epochs are written when they change, and go with the last epoch that needs them", async () => {
  const { world, agents: [a, b] } = await createTrio();
  const disk = new Disk();
  let recorded = disk.save(b);
  const rosters = (): string[] =>
    disk.stored.map(({ id }) => id).filter((id) => id.startsWith("roster/")).sort();
  const late: Uint8Array[] = [];
  const follow = async (): Promise<void> => {
    const step = await perform(recorded.beginReceive(newest(world), anything));
    assertEquals(disk.keep(step).outcome.kind, "commit");
  };
  const heal = async (): Promise<void> => {
    late.push((await a.member.seal(payload, payload)).message);
    await world.commit(a, () => ({ forcePath: true }));
    await follow();
  };
  for (let i = 0; i < 3; i++) await heal();
  assertEquals(rosters(), ["roster/1"], "three epochs of the same members");
  await world.add(a, world.newAgent());
  await follow();
  await heal();
  assertEquals(rosters(), ["roster/1", "roster/5"]);
  recorded = disk.load(b);
  await heal();
  assertEquals(rosters(), ["roster/1", "roster/5", "roster/6"], "a new process writes its own");
  for (const message of late) {
    const { outcome } = disk.keep(await perform(recorded.beginReceive(message, anything)));
    assertEquals(outcome.kind === "message" && outcome.sender.agentId, a.id);
  }
  const forget = (epoch: number): string[] => {
    disk.write(recorded.forgetBefore(epoch));
    return rosters();
  };
  assertEquals(forget(4), ["roster/1", "roster/5", "roster/6"], "epoch 4 had the first members");
  assertEquals(forget(5), ["roster/5", "roster/6"]);
  assertEquals(forget(6), ["roster/6"]);
  assertEquals(forget(7), []);
  await heal();
  assertEquals(rosters(), ["roster/7"], "written again after it had gone");
  recorded = disk.load(b);
  const { outcome } = disk.keep(
    await perform(recorded.beginReceive(late.at(-1) ?? payload, anything)),
  );
  assertEquals(outcome.kind, "message");
  // A membership in place of this one takes none of them along.
  await world.commit(a, () => ({ forcePath: true }));
  disk.save(a);
  assertEquals(rosters(), []);
});
