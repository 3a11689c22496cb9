/**
 * The event loop is not held by what a large group takes: how much stands between two rests does
 * not grow with the group.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRandom } from "../../tests/support/mod.ts";
import {
  type CarryOut,
  createCarryOut,
  type InterruptibleWork,
} from "../base/interruptible_work.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";
import { MlsFault } from "./codec.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { DurableGroup } from "./durable_group.ts";
import { Group } from "./group.ts";
import { type Agent, name, World } from "./testing/world.ts";

const members = 100;

/** Agreements and checks of signatures, by far the most of what a member computes. */
interface Counted {
  signatures: Signatures;
  work: number;
}

function count(): Counted {
  const counted: Counted = { signatures: portableSignatures, work: 0 };
  const { agreement, verifyHandshakes } = portableSignatures;
  counted.signatures = {
    ...portableSignatures,
    agreement: {
      publicKeyOf: (key) => (counted.work++, agreement.publicKeyOf(key)),
      sharedSecret: (ours, theirs) => (counted.work++, agreement.sharedSecret(ours, theirs)),
    },
    verifyHandshakes: (items) => {
      counted.work += items.length;
      return verifyHandshakes(items);
    },
  };
  return counted;
}

/** The result of the parts, and the most and all of the work in them. */
function measure<T>(
  counted: Counted,
  parts: InterruptibleWork<T>,
): { readonly result: T; readonly most: number; readonly all: number } {
  let [most, all] = [0, 0];
  for (;;) {
    counted.work = 0;
    const { done, value } = parts.next();
    most = Math.max(most, counted.work);
    all += counted.work;
    if (done === true) return { result: value, most, all };
  }
}

/** A group whose first member has let in all others at once, and the second follows. */
async function createLarge(signatures: Signatures): Promise<{ world: World; a: Agent; b: Agent }> {
  const world = new World(createRandom(4), { signatures });
  const a = await world.create();
  const b = world.newAgent();
  await world.add(a, b);
  const added = Array.from(
    { length: members - 2 },
    () => world.newAgent().createKeyPackage().keyPackage,
  );
  await world.commit(a, () => ({ add: added }));
  return { world, a, b };
}

Deno.test("between two rests a member makes few agreements and checks few signatures, however large the group is", async () => {
  const counted = count();
  const { world, a, b } = await createLarge(counted.signatures);
  const [, adding] = world.log;
  assert(adding?.rules);
  const anything = (): undefined => undefined;

  const followed = b.member.beginReceive(adding.bytes, adding.rules);
  assert("parts" in followed);
  const following = measure(counted, followed.parts);
  assertEquals(following.result.kind, "commit");
  assert(following.all > members, `${following.all}`);

  const making = measure(counted, a.member.beginPrepare({ forcePath: true }));
  assert(making.all > members, `${making.all}`);

  const joiner = world.newAgent();
  const own = joiner.createKeyPackage();
  const { welcome } = a.member.prepare({ add: [own.keyPackage] });
  assert(welcome);
  const joining = measure(counted, Group.beginJoin(welcome, own, joiner.deps, { name }));
  assertEquals(joining.result.members().length, members + 1);
  assert(joining.all > members, `${joining.all}`);

  // A path has a key for each level of the tree; signatures are checked by the handful.
  for (const { most } of [following, making, joining]) assert(most <= 40, `${most} in one part`);

  const other = a.member.prepare({ forcePath: true });
  const path = b.member.beginReceive(other.message, anything);
  assert("parts" in path && measure(counted, path.parts).most <= 40);
});

Deno.test("short work is done in the call, long work with a rest whenever a turn has lasted", async () => {
  let [nowMs, rests] = [0, 0];
  const carryOut = createCarryOut({
    nowMs: () => nowMs,
    rest: () => Promise.resolve(void rests++),
  });
  function* work(parts: number, ms: number): InterruptibleWork<string> {
    for (let i = 0; i < parts; i++) {
      nowMs += ms;
      yield;
    }
    return "done";
  }
  assertEquals(carryOut(work(7, 1)), "done");
  assertEquals(await carryOut(work(80, 1)), "done");
  assertEquals(rests, 10);
  // A clock that is set back holds nobody up.
  assertEquals(await carryOut(work(3, -3_600_000)), "done");
  assertEquals(rests, 13);
});

/** Rests wherever it may; `rested` is asked each time. */
function resting(rested: () => void): CarryOut {
  return createCarryOut({
    nowMs: () => ++nowMs * 1000,
    rest: () => Promise.resolve().then(rested),
  });
}
let nowMs = 0;

async function createRestingPair(
  rested: () => void,
): Promise<{ world: World; a: Agent; durable: DurableGroup; b: Agent }> {
  const world = new World(createRandom(4));
  const a = await world.create();
  const b = world.newAgent();
  await world.add(a, b);
  const random = createRandom(9);
  const store = await RecordStore.open(
    openMemory(createMemoryDisk(), (length) => random.bytes(length)),
  );
  const durable = await DurableGroup.save(
    Group.restore(b.member.parts, { ...b.deps, carryOut: resting(rested) }),
    store,
  );
  return { world, a, durable, b };
}

Deno.test("nothing of a group happens in the rests of what is under way", async () => {
  const order: string[] = [];
  let rests = 0;
  const { world, a, durable } = await createRestingPair(() => rests++);
  await world.commit(a, () => ({ forcePath: true }));
  const commit = world.log.at(-1);
  assert(commit?.rules);
  const note = (what: string) => (): void =>
    void order.push(`${what} in ${durable.group.epoch}, ${rests > 0}`);
  const preparing = durable.prepareIn(durable.group.epoch, { forcePath: true }).then(
    note("prepared"),
  );
  const sealing = durable.seal(Uint8Array.of(1), new Uint8Array(0)).then(note("sealed"));
  const following = durable.receive(commit.bytes, commit.rules).then(note("followed"));
  await Promise.all([preparing, sealing, following]);
  assertEquals(order, ["prepared in 1, true", "sealed in 1, true", "followed in 2, true"]);
});

Deno.test("of a membership that another one replaces while it follows a commit nothing is written", async () => {
  const { world, a, durable } = await createRestingPair(() => durable.retire());
  await world.commit(a, () => ({ forcePath: true }));
  const commit = world.log.at(-1);
  assert(commit?.rules);
  const { bytes, rules } = commit;
  const alongside = (): never => assert(false, "something was written") as never;
  await assertRejects(
    () => durable.receive(bytes, rules, alongside),
    MlsFault,
    "joined the channel anew",
  );
});
