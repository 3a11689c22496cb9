/**
 * A machine that cannot compute for a moment judges nobody: what it was given is received later as
 * if for the first time.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { createRandom } from "../../tests/support/mod.ts";
import { attempt, MlsFault } from "./codec.ts";
import { open, seal } from "./crypto/hpke.ts";
import { portableKeyAgreement } from "./crypto/key_agreement.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { aeadOf, type SuiteId } from "./crypto/suite.ts";
import { Group } from "./group.ts";
import { type Agent, name, World } from "./testing/world.ts";

/** The portable signatures of a machine that is out of memory while `full` is true. */
function createMachine(): Signatures & { full: boolean } {
  const machine = {
    ...portableSignatures,
    full: false,
    verifyHandshakes: (items: Parameters<Signatures["verifyHandshakes"]>[0]): boolean => {
      if (machine.full) throw new RangeError("Array buffer allocation failed");
      return portableSignatures.verifyHandshakes(items);
    },
    verifyApplication: (
      ...args: Parameters<Signatures["verifyApplication"]>
    ): boolean | Promise<boolean> => {
      if (machine.full) throw new RangeError("Array buffer allocation failed");
      return portableSignatures.verifyApplication(...args);
    },
  };
  return machine;
}

async function createMembers(): Promise<
  { world: World; a: Agent; b: Agent; machine: { full: boolean } }
> {
  const machine = createMachine();
  const world = new World(createRandom(1), { signatures: machine });
  const a = await world.create();
  const b = world.newAgent();
  await world.add(a, b);
  return { world, a, b, machine };
}

function outOfStack(): number {
  return 1 + outOfStack();
}

Deno.test("a commit and a message that a machine had no memory for are thrown back, and received later", async () => {
  const { world, a, b, machine } = await createMembers();
  assert(await world.send(a, utf8ToBytes("hello")));
  const [message] = world.log.slice(b.cursor);
  assert(message);
  machine.full = true;
  assertThrows(() => b.member.receive(message.bytes, () => undefined), RangeError);
  machine.full = false;
  assertEquals((await b.sync()).map(({ kind }) => kind), ["message"]);
  await world.commit(a, () => ({}));
  const [commit] = world.log.slice(b.cursor);
  assert(commit);
  machine.full = true;
  assertThrows(() => b.member.receive(commit.bytes, () => undefined), RangeError);
  assertThrows(() => b.member.receive(commit.bytes, () => (outOfStack(), undefined)), RangeError);
  machine.full = false;
  assertThrows(() => b.member.receive(commit.bytes, () => (outOfStack(), undefined)), RangeError);
  assertEquals((await b.sync()).map(({ kind }) => kind), ["commit"]);
});

Deno.test("a Welcome that a machine could not open is not refused", async () => {
  const { world, a } = await createMembers();
  const c = world.newAgent();
  const { keyPackage } = await c.createKeyPackage();
  await world.commit(a, () => ({ add: [keyPackage] }));
  const welcome = world.log.at(-1)?.welcome;
  assert(welcome && c.own);
  const { own } = c;
  const agreement = { ...portableKeyAgreement, sharedSecret: (): never => outOfStack() as never };
  const deps = { ...c.deps, signatures: { ...portableSignatures, agreement } };
  const expected = { name, channelId: world.channelId };
  assertThrows(() => Group.join(welcome.bytes, own, deps, expected), RangeError);
  await c.join();
});

Deno.test("attempt() returns undefined for a refusal and throws everything else", () => {
  assertEquals(attempt(() => 1), 1);
  assertThrows(() => attempt(outOfStack), RangeError);
  assertThrows(
    () => attempt(() => new WebAssembly.Module(new Uint8Array(3))),
    WebAssembly.CompileError,
  );
});

for (const id of [1, 3] as const satisfies readonly SuiteId[]) {
  Deno.test(`suite ${id}: a wrong tag, a ciphertext too short and an encapsulated key of a wrong kind are refusals`, () => {
    const random = createRandom(id);
    const [privateKey, key, nonce] = [
      random.bytes(32),
      random.bytes(aeadOf[id].keyBytes),
      random.bytes(12),
    ];
    const nothing = new Uint8Array(0);
    for (
      const ciphertext of [random.bytes(0), random.bytes(15), random.bytes(16), random.bytes(100)]
    ) {
      assertEquals(attempt(() => aeadOf[id].open(key, nonce, nothing, ciphertext)), undefined);
    }
    const publicKey = portableKeyAgreement.publicKeyOf(privateKey);
    const input = {
      publicKey,
      info: nothing,
      aad: nothing,
      plaintext: key,
      randomness: random.bytes(32),
    };
    const { kemOutput, ciphertext } = seal(aeadOf[id], input);
    const opened = (kemOutput: Uint8Array): Uint8Array =>
      open(aeadOf[id], { privateKey, kemOutput, info: nothing, aad: nothing, ciphertext });
    assertEquals(opened(kemOutput), key);
    for (
      const other of [
        nothing,
        kemOutput.subarray(1),
        concatBytes(kemOutput, nonce),
        new Uint8Array(32),
      ]
    ) {
      assertThrows(() => opened(other), MlsFault);
    }
  });
}
