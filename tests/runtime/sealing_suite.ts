/**
 * Bad KeyPackages, Welcomes and groups of sealed channels have the same verdict everywhere, word by
 * word, with the runtime's ML-KEM and with noble's.
 */
import { sealKeyBytes, sealKeyExtension } from "../../proto/mod.ts";
import {
  atOnce,
  checkKeyPackage,
  checkSealing,
  createCommit,
  decodeBinding,
  decodeWelcomeMessage,
  encodeBinding,
  encodeMlsMessage,
  encodeShownChanges,
  type Extension,
  newSealing,
  putLayer,
  readyToJoin,
  type Sealing,
  sealingExtension,
  sealKeyOf,
  signedAnew,
  type Welcome,
} from "../../sdk/mls/testing/sealing.ts";
import {
  type Agent,
  createSignatures,
  Group,
  name,
  type OpeningMlKem,
  World,
} from "../../sdk/mls/testing/world.ts";
import { createRandom } from "../support/random.ts";
import { check, type RuntimeTest } from "../support/runtime/suite.ts";

type Secrets = Welcome["secrets"][number];

export function createTests(native: OpeningMlKem): readonly RuntimeTest[] {
  return [
    { name: "keys of KeyPackages", run: () => keyVerdicts() },
    { name: "Welcomes", run: () => welcomeVerdicts(native) },
    { name: "the extension of the group", run: () => groupVerdicts() },
  ];
}

/** Each bad one is refused; the last is good. */
async function verdictsOf(
  tries: readonly (readonly [what: string, act: () => unknown])[],
  good: readonly string[],
): Promise<string> {
  const verdicts: string[] = [];
  for (const [what, act] of tries) {
    let verdict = "taken";
    try {
      await act();
    } catch (error) {
      check(error instanceof Error, "an error is thrown");
      verdict = `${error.name}: ${error.message}`;
    }
    check(good.includes(what) === (verdict === "taken"), `${what}: ${verdict}`);
    verdicts.push(`${what}: ${verdict}`);
  }
  return verdicts.join("\n");
}

async function keyVerdicts(): Promise<string> {
  const agent = new World(createRandom(12)).newAgent();
  const own = await agent.createSealedKeyPackage();
  const key = sealKeyOf(own.keyPackage);
  check(key?.length === sealKeyBytes, "it has a key");
  const whole = Uint8Array.of(1, ...key);
  const withBytes = (at: number, ...bytes: number[]): Uint8Array => {
    const changed = whole.slice();
    changed.set(bytes, at);
    return changed;
  };
  const keyPackageWith = (...contents: Uint8Array[]): () => void => () => {
    const extensions = contents.map((extensionData): Extension => ({
      extensionType: sealKeyExtension,
      extensionData,
    }));
    checkKeyPackage(signedAnew(own, { keyPackage: { extensions } }, agent.identity).keyPackage, 3);
  };
  // 3,329 as the first and as the second of two numbers in three bytes.
  const tries: readonly (readonly [string, () => unknown])[] = [
    ["1,216 bytes", keyPackageWith(whole.slice(0, -1))],
    ["1,218 bytes", keyPackageWith(Uint8Array.of(...whole, 0))],
    ["nothing", keyPackageWith(new Uint8Array(0))],
    ["format 0", keyPackageWith(withBytes(0, 0))],
    ["format 2", keyPackageWith(withBytes(0, 2))],
    ["twice", keyPackageWith(whole, whole)],
    ["3,329 at the first place", keyPackageWith(withBytes(1, 0x01, 0x0d))],
    ["3,329 in the middle", keyPackageWith(withBytes(1 + 3 * 192, 0x01, 0x0d))],
    ["3,329 at the last place", keyPackageWith(withBytes(1 + 1152 - 2, 0x10, 0xd0))],
    ["all ones", keyPackageWith(withBytes(1, ...new Uint8Array(1184).fill(255)))],
    ["X25519 of small order", keyPackageWith(withBytes(1 + 1184, ...new Uint8Array(32)))],
    ["none", keyPackageWith()],
    ["a good one", keyPackageWith(whole)],
  ];
  return await verdictsOf(tries, ["none", "a good one"]);
}

async function welcomeVerdicts(native: OpeningMlKem): Promise<string> {
  const signatures = await createSignatures({ mlKem: native });
  const world = new World(createRandom(13), { signatures });
  const owner = await world.create(newSealing("require"));
  const [first, second, plain] = [world.newAgent(), world.newAgent(), world.newAgent()];
  const sealed = [await first.createSealedKeyPackage(), await second.createSealedKeyPackage()];
  const { keyPackage: keyless } = plain.createKeyPackage();
  const { binding, changes, current } = owner.member;
  const welcomeInto = (sealing: Sealing | undefined, withPlain = false): Welcome => {
    const add = [...sealed.map(({ keyPackage }) => keyPackage), ...withPlain ? [keyless] : []];
    const { welcome } = atOnce(createCommit(current, {
      proposals: [
        {
          proposalType: "group_context_extensions",
          groupContextExtensions: { extensions: encodeBinding({ ...binding, sealing }) },
        },
        ...add.map((keyPackage) => ({ proposalType: "add" as const, add: { keyPackage } })),
      ],
      identity: owner.identity,
      authenticatedData: new Uint8Array(0),
      padding: () => 0,
      groupInfoExtensions: encodeShownChanges(changes),
    }, owner.deps));
    check(welcome !== undefined, "somebody is welcomed");
    return decodeWelcomeMessage(welcome);
  };
  const join = (welcome: Welcome, agent: Agent = first) => async (): Promise<void> => {
    const bytes = encodeMlsMessage({ version: "mls10", wireformat: "mls_welcome", welcome });
    check(agent.own !== undefined, "it has a KeyPackage");
    const ready = await readyToJoin(bytes, agent.own, signatures);
    Group.join(bytes, ready, agent.deps, { name });
  };
  const honest = welcomeInto(newSealing("require"));
  const changed = (change: (each: Secrets, at: number) => Uint8Array): Welcome => ({
    ...honest,
    secrets: honest.secrets.map((each, at) => ({
      newMember: each.newMember,
      encryptedGroupSecrets: {
        kemOutput: each.encryptedGroupSecrets.kemOutput,
        ciphertext: change(each, at),
      },
    })),
  });
  const bytesOf = ({ encryptedGroupSecrets }: Secrets): Uint8Array =>
    encryptedGroupSecrets.ciphertext;
  const flipped = (place: number): Welcome =>
    changed((each) => bytesOf(each).map((byte, at) => at === place ? byte ^ 1 : byte));
  const [{ encryptedGroupSecrets: inner }, other] = honest.secrets as [Secrets, Secrets];
  const publicKey = sealed[0] && sealKeyOf(sealed[0].keyPackage);
  check(publicKey !== undefined, "it has a key");
  const twice = putLayer(inner, {
    newMember: honest.secrets[0]?.newMember ?? new Uint8Array(0),
    groupInfoHash: signatures.longHash(honest.encryptedGroupInfo),
    publicKey,
  }, { xWing: signatures.xWing, randomBytes: owner.deps.randomBytes });
  const length = inner.ciphertext.length;
  const tries: readonly (readonly [string, () => unknown])[] = [
    ["a newcomer without a layer, required", join(welcomeInto(newSealing("require"), true))],
    ["a newcomer without a layer, preferred", join(welcomeInto(newSealing("prefer"), true))],
    [
      "a newcomer without a layer, for that one",
      join(welcomeInto(newSealing("prefer"), true), plain),
    ],
    ["a newcomer without a layer, open", join(welcomeInto(undefined, true))],
    ["no sealing", join(welcomeInto(undefined))],
    ["a sealing from later", join(welcomeInto({ required: false, since: 2 ** 32 + 1 }))],
    ["a sealing from between", join(welcomeInto({ required: false, since: 1 }))],
    ["format 2", join(changed((each) => Uint8Array.of(2, ...bytesOf(each).subarray(1))))],
    ["1,136 bytes", join(changed((each) => bytesOf(each).slice(0, 1136)))],
    ["1,137 bytes", join(changed((each) => bytesOf(each).slice(0, 1137)))],
    ["first byte of kemOutput", join(flipped(1))],
    ["last byte of ML-KEM's part", join(flipped(1088))],
    ["first byte of X25519's part", join(flipped(1089))],
    ["first byte that is sealed", join(flipped(1121))],
    ["last byte of the tag", join(flipped(length - 1))],
    ["the other newcomer's layer", join(changed((_, at) => bytesOf(at === 0 ? other : other)))],
    [
      "a layer in a layer",
      join(changed((each, at) => at === 0 ? twice.ciphertext : bytesOf(each))),
    ],
    [
      "another GroupInfo",
      join({ ...honest, encryptedGroupInfo: welcomeInto(undefined).encryptedGroupInfo }),
    ],
    ["a good one", join(honest)],
    ["a good one, for the other", join(honest, second)],
  ];
  return await verdictsOf(tries, [
    "a newcomer without a layer, open",
    "no sealing",
    "a good one",
    "a good one, for the other",
  ]);
}

async function groupVerdicts(): Promise<string> {
  const world = new World(createRandom(14));
  const owner = await world.create(newSealing("require"));
  const [nameOfChannel, owners, sealing] = owner.member.current.context.extensions;
  check(
    nameOfChannel !== undefined && owners !== undefined && sealing !== undefined,
    "there are three",
  );
  const bytes = sealing.extensionData;
  const read = (...extensions: Extension[]) => (): void => void decodeBinding(extensions);
  const within = (extensionData: Uint8Array) =>
    read(nameOfChannel, owners, { extensionType: sealingExtension, extensionData });
  const at = (place: number, value: number): Uint8Array =>
    bytes.map((byte, i) => i === place ? value : byte);
  const tries: readonly (readonly [string, () => unknown])[] = [
    ["twice", read(nameOfChannel, owners, sealing, sealing)],
    ["before the owners", read(nameOfChannel, sealing, owners)],
    ["first", read(sealing, nameOfChannel, owners)],
    ["format 0", within(at(0, 0))],
    ["format 2", within(at(0, 2))],
    ["require 2", within(at(1, 2))],
    ["since 2^63", within(at(2, 128))],
    ["too short", within(bytes.slice(1))],
    ["too long", within(Uint8Array.of(...bytes, 0))],
    ["later than the epoch", () => checkSealing({ required: false, since: 2 ** 32 + 1 }, 7)],
    ["required from later", () => checkSealing({ required: true, since: 2 ** 32 + 1 }, 2 ** 33)],
    ["a good one", within(bytes)],
  ];
  return await verdictsOf(tries, ["a good one"]);
}
