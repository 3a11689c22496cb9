import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { readKeyPackage, sealKeyExtension, verifyKeyPackage } from "../../../proto/mod.ts";
import { createRandom } from "../../../tests/support/mod.ts";
import { MlsFault, MlsVersionFault } from "../codec.ts";
import { Group } from "../group.ts";
import { checkKeyPackage, type KeyPackage, type OwnKeyPackage, sealKeyOf } from "../key_package.ts";
import { signedAnew } from "../testing/odd_key_package.ts";
import { portableSignatures } from "../testing/portable_signatures.ts";
import { type Agent, name, World, worldMs } from "../testing/world.ts";
import { encodeMlsMessage, type Extension, type Welcome } from "../ts_mls.ts";
import { decodeWelcomeMessage, readyToJoin } from "../welcome.ts";
import { putLayer } from "./seal_layer.ts";

const { xWing } = portableSignatures;

interface Invited {
  readonly world: World;
  readonly founder: Agent;
  readonly joiners: readonly Agent[];
  readonly welcome: Uint8Array;
}

/** A commit lets in agents with a key for the layer, and then some without. */
async function invite(sealed: number, plain = 0): Promise<Invited> {
  const world = new World(createRandom(54));
  const founder = await world.create();
  const joiners = Array.from({ length: sealed + plain }, () => world.newAgent());
  const add: KeyPackage[] = [];
  for (const [i, joiner] of joiners.entries()) {
    const own = i < sealed ? await joiner.createSealedKeyPackage() : joiner.createKeyPackage();
    add.push(own.keyPackage);
  }
  await world.commit(founder, () => ({ add }));
  const welcome = world.log.at(-1)?.welcome?.bytes;
  assert(welcome !== undefined);
  return { world, founder, joiners, welcome };
}

function ownOf({ own }: Agent): OwnKeyPackage {
  assert(own !== undefined);
  return own;
}

async function join(welcome: Uint8Array, agent: Agent, own = ownOf(agent)): Promise<Group> {
  const ready = await readyToJoin(welcome, own, portableSignatures);
  return Group.join(welcome, ready, agent.deps, { name, channelId: agent.world.channelId });
}

/** The same Welcome with other secrets for each newcomer, or another GroupInfo. */
function changed(welcome: Uint8Array, change: (welcome: Welcome) => Partial<Welcome>): Uint8Array {
  const decoded = decodeWelcomeMessage(welcome);
  return encodeMlsMessage({
    version: "mls10",
    wireformat: "mls_welcome",
    welcome: { ...decoded, ...change(decoded) },
  });
}

function withCiphertext(
  welcome: Uint8Array,
  change: (ciphertext: Uint8Array) => Uint8Array,
): Uint8Array {
  return changed(welcome, ({ secrets }) => ({
    secrets: secrets.map(({ newMember, encryptedGroupSecrets: { kemOutput, ciphertext } }) => ({
      newMember,
      encryptedGroupSecrets: { kemOutput, ciphertext: change(ciphertext) },
    })),
  }));
}

const ciphertextsOf = (welcome: Uint8Array): Uint8Array[] =>
  decodeWelcomeMessage(welcome).secrets.map((each) => each.encryptedGroupSecrets.ciphertext);

Deno.test("one Welcome lets in agents with a key for the layer, and those of before without", async () => {
  const { founder, joiners, welcome } = await invite(2, 1);
  const [first = 0, second = 0, plain = 0] = ciphertextsOf(welcome).map(({ length }) => length);
  assertEquals([first, second], [plain + 1137, plain + 1137]);
  for (const joiner of joiners) {
    assertEquals((await join(welcome, joiner)).authenticator, founder.member.authenticator);
  }
});

Deno.test("the relay takes a KeyPackage with the key, and reads who a Welcome is for", async () => {
  const { joiners: [joiner], welcome } = await invite(1);
  assert(joiner !== undefined);
  const { message, reference } = ownOf(joiner);
  const read = verifyKeyPackage(readKeyPackage(message), worldMs);
  assertEquals(read.reference, reference);
  assertEquals(decodeWelcomeMessage(welcome).secrets.map(({ newMember }) => newMember), [
    reference,
  ]);
});

Deno.test("whatever is changed in a layer, the Welcome is refused", async () => {
  const { joiners: [joiner], welcome } = await invite(1);
  assert(joiner !== undefined);
  const [whole = new Uint8Array(0)] = ciphertextsOf(welcome);
  const flipped = (at: number): Uint8Array =>
    withCiphertext(welcome, (bytes) => bytes.map((byte, i) => i === at ? byte ^ 1 : byte));
  for (const at of [1, 700, 1088, 1089, 1120, 1121, whole.length - 17, whole.length - 1]) {
    await assertRejects(() => join(flipped(at), joiner), MlsFault, "Cannot join");
  }
  const cut = (length: number): Uint8Array =>
    withCiphertext(welcome, (bytes) => bytes.slice(0, length));
  for (const length of [0, 1, 1120, 1136, 1137, whole.length - 1]) {
    await assertRejects(() => join(cut(length), joiner), MlsFault);
  }
  for (const number of [0, 2]) {
    const newer = withCiphertext(
      welcome,
      (bytes) => bytes.map((byte, i) => i === 0 ? number : byte),
    );
    await assertRejects(() => join(newer, joiner), MlsVersionFault, "newer than this library");
  }
  const small = withCiphertext(
    welcome,
    (bytes) => bytes.map((b, i) => i > 1088 && i < 1121 ? 0 : b),
  );
  await assertRejects(() => join(small, joiner), MlsFault);
  // Its own control: nothing was wrong with it.
  await join(welcome, joiner);
});

Deno.test("a layer is for one newcomer of one Welcome", async () => {
  const { world, joiners: [first, second], welcome } = await invite(2);
  assert(first !== undefined && second !== undefined);
  const exchanged = changed(welcome, ({ secrets: [a, b] }) => {
    assert(a !== undefined && b !== undefined);
    return {
      secrets: [
        { ...a, encryptedGroupSecrets: b.encryptedGroupSecrets },
        { ...b, encryptedGroupSecrets: a.encryptedGroupSecrets },
      ],
    };
  });
  await assertRejects(() => join(exchanged, first), MlsFault);
  await assertRejects(() => join(exchanged, second), MlsFault);
  const other = changed(welcome, ({ encryptedGroupInfo }) => ({
    encryptedGroupInfo: encryptedGroupInfo.map((byte, i) => i === 9 ? byte ^ 1 : byte),
  }));
  await assertRejects(() => join(other, first), MlsFault);
  // The same seed in another KeyPackage of the same agent.
  const again = await first.createSealedKeyPackage();
  await assertRejects(() => join(welcome, first, again), MlsFault, "not for this KeyPackage");
  assertEquals(world.epoch, 1);
});

Deno.test("a layer around a layer, and one that nobody asked for, are refused", async () => {
  const { joiners: [sealed, plain], welcome } = await invite(1, 1);
  assert(sealed !== undefined && plain !== undefined);
  const own = ownOf(sealed);
  const publicKey = sealKeyOf(own.keyPackage);
  assert(publicKey !== undefined);
  const groupInfoHash = sha256(decodeWelcomeMessage(welcome).encryptedGroupInfo);
  const layered = changed(welcome, ({ secrets }) => ({
    secrets: secrets.map(({ newMember, encryptedGroupSecrets }) => ({
      newMember,
      encryptedGroupSecrets: putLayer(encryptedGroupSecrets, {
        newMember,
        groupInfoHash,
        publicKey,
      }, {
        xWing,
        randomBytes: (length) => new Uint8Array(length).fill(5),
      }),
    })),
  }));
  await assertRejects(() => join(layered, sealed), MlsFault, "cannot be opened");
  await assertRejects(() => join(layered, plain), MlsFault, "has not");
});

const sealKey = (data: Uint8Array): Extension => ({
  extensionType: sealKeyExtension,
  extensionData: data,
});

Deno.test("members refuse a KeyPackage to which nobody can seal, all for the same reason", async () => {
  const world = new World(createRandom(55));
  const founder = await world.create();
  const joiner = world.newAgent();
  const own = await joiner.createSealedKeyPackage();
  const [{ extensionData } = sealKey(new Uint8Array(0))] = own.keyPackage.extensions;
  const at = (place: number, byte: number): Uint8Array =>
    extensionData.map((each, i) => i === place ? byte : each);
  const numbers = (first: number): Uint8Array =>
    extensionData.map((byte, i) =>
      i === first ? 0x01 : i === first + 1 ? byte & 0xf0 | 0x0d : byte
    );
  const bad: Record<string, readonly Extension[]> = {
    "nothing": [sealKey(new Uint8Array(0))],
    "one byte less": [sealKey(extensionData.subarray(0, -1))],
    "one byte more": [sealKey(concatBytes(extensionData, Uint8Array.of(0)))],
    "format 0": [sealKey(at(0, 0))],
    "format 2": [sealKey(at(0, 2))],
    "3329 at the first place": [sealKey(numbers(1))],
    "3329 in the middle": [sealKey(numbers(577))],
    "3329 at the last place but one": [sealKey(numbers(1150))],
    "all ones": [sealKey(new Uint8Array(extensionData.length).fill(255).with(0, 1))],
    "X25519 of small order": [sealKey(extensionData.map((byte, i) => i < 1185 ? byte : 0))],
    "twice": [sealKey(extensionData), sealKey(extensionData)],
  };
  for (const [what, extensions] of Object.entries(bad)) {
    const odd = signedAnew(own, { keyPackage: { extensions: [...extensions] } }, joiner.identity);
    const judges = [
      () => checkKeyPackage(odd.keyPackage, world.suiteId),
      () => founder.member.prepare({ add: [odd.keyPackage] }),
    ];
    for (const judge of judges) {
      const error = assertThrows(judge, MlsFault);
      assert(error.message.includes("for Welcomes"), `${what}: ${error.message}`);
    }
  }
  // One of another agent keeps out only the agent that has copied it.
  const copier = world.newAgent();
  const copy = signedAnew(
    copier.createKeyPackage(),
    { keyPackage: { extensions: [sealKey(extensionData)] } },
    copier.identity,
  );
  await world.commit(founder, () => ({ add: [copy.keyPackage, own.keyPackage] }));
  const welcome = world.log.at(-1)?.welcome?.bytes;
  assert(welcome !== undefined);
  await assertRejects(() => join(welcome, copier, copy), MlsFault);
  assertEquals((await join(welcome, joiner, own)).authenticator, founder.member.authenticator);
});

const frozen = (bytes: Uint8Array | undefined): string | undefined =>
  bytes && `${bytes.length} ${bytesToHex(sha256(bytes))}`;

Deno.test("frozen bytes: the extension with the key, and the layer", async () => {
  const filled = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
  const publicKey = await xWing.publicKeyOf(filled(5));
  const joiner = new World(createRandom(54)).newAgent();
  const { keyPackage } = joiner.createKeyPackage(undefined, { seed: filled(5), publicKey });
  assertEquals(
    keyPackage.extensions.map(({ extensionData }) => frozen(extensionData)),
    ["1217 1062357b5433450bf1c2a00fe00da9c7f403fa23905961b465c2f76f9e52f612"],
  );
  const { kemOutput, ciphertext } = putLayer(
    { kemOutput: filled(1), ciphertext: filled(2, 80) },
    { newMember: filled(3), groupInfoHash: filled(4), publicKey },
    { xWing, randomBytes: (length) => filled(6, length) },
  );
  assertEquals(kemOutput, filled(1));
  assertEquals(
    frozen(ciphertext),
    "1217 993996d378844b2493b008f3adf5e3c5908af8db95bbe07b43dfce25355294fe",
  );
});
