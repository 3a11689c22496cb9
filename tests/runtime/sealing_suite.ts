/**
 * Bad KeyPackages, Welcomes and groups of sealed channels have the same verdict everywhere, word by
 * word, with the runtime's ML-KEM and with noble's.
 */
import { foundingEpoch, isUsableSealKey, sealKeyBytes, sealKeyExtension } from "../../proto/mod.ts";
import {
  atOnce,
  checkKeyPackage,
  checkSealing,
  createCommit,
  decodeBinding,
  decodeWelcomeMessage,
  encodeBinding,
  encodeContext,
  encodeMlsMessage,
  encodeShownChanges,
  type Extension,
  type Forged,
  foundedPlan,
  foundGroup,
  mayFollow,
  MlsFault,
  newSealing,
  pskOf,
  putLayer,
  readyToJoin,
  type Sealing,
  sealingExtension,
  sealKeyOf,
  signedAnew,
  verdict,
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
import { check, Digest, type RuntimeTest } from "../support/runtime/suite.ts";

type Secrets = Welcome["secrets"][number];

export function createTests(native: OpeningMlKem): readonly RuntimeTest[] {
  return [
    { name: "keys of KeyPackages", run: () => keyVerdicts() },
    { name: "Welcomes", run: () => welcomeVerdicts(native) },
    { name: "the extension of the group", run: () => groupVerdicts() },
    { name: "frozen bytes", run: () => frozenBytes() },
  ];
}

/** For the campaign. In Deno `sealing_rules_test.ts` has commits and foundings always. */
export function createLongTests(native: OpeningMlKem): readonly RuntimeTest[] {
  return [
    { name: "commits", run: () => commitVerdicts() },
    { name: "foundings", run: () => foundingVerdicts() },
    { name: "every byte of a layer", run: () => everyByte(native) },
    { name: "every place of a key", run: () => everyPlace() },
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

interface Invited {
  readonly signatures: Awaited<ReturnType<typeof createSignatures>>;
  readonly owner: Agent;
  readonly first: Agent;
  readonly second: Agent;
  readonly plain: Agent;
  /** Of the first two. */
  readonly sealed: readonly Awaited<ReturnType<Agent["createSealedKeyPackage"]>>[];
  readonly welcomeInto: (sealing: Sealing | undefined, withPlain?: boolean) => Welcome;
  /** By default the first one's. */
  readonly join: (welcome: Welcome, agent?: Agent) => () => Promise<void>;
}

/** Two newcomers with keys, one without, and Welcomes for them of a program that may be modified. */
async function createInvited(native: OpeningMlKem): Promise<Invited> {
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
  return { signatures, owner, first, second, plain, sealed, welcomeInto, join };
}

async function welcomeVerdicts(native: OpeningMlKem): Promise<string> {
  const { signatures, owner, second, plain, sealed, welcomeInto, join } = await createInvited(
    native,
  );
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
    ["the other newcomer's layer", join(changed(() => bytesOf(other)))],
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

async function commitVerdicts(): Promise<string> {
  const tries: (readonly [string, () => unknown])[] = [];
  for (const choice of ["require", "prefer", "none"] as const) {
    const world = new World(createRandom(15));
    const before = choice === "none" ? undefined : newSealing(choice);
    const owner = await world.create(before);
    const [bob, carol] = [world.newAgent(), world.newAgent()];
    await world.add(owner, bob, carol);
    const { sealing: _, ...rest } = owner.member.binding;
    const newcomer = async (hasKey: boolean): Promise<Agent> => {
      const agent = world.newAgent();
      if (hasKey) await agent.createSealedKeyPackage();
      else agent.createKeyPackage();
      return agent;
    };
    const [sealed, keyless] = [await newcomer(true), await newcomer(false)];
    const copying = await newcomer(true);
    check(sealed.own !== undefined && copying.own !== undefined, "they have KeyPackages");
    const { extensions } = sealed.own.keyPackage;
    copying.own = signedAnew(copying.own, { keyPackage: { extensions } }, copying.identity);
    const add = (what: string, reader: Agent, forged: Forged): void => {
      tries.push([`${choice}: ${what}`, async () => {
        const why = await verdict(owner, reader, forged);
        if (why !== undefined) throw new Error(why);
      }]);
    };
    const into = (sealing: Sealing | undefined): Pick<Forged, "binding"> => {
      return { binding: { ...rest, sealing } };
    };
    add("somebody with a key", bob, { added: [sealed] });
    add("somebody with another's key", bob, { added: [copying] });
    add("two with one key", bob, { added: [sealed, copying] });
    add("somebody without a key", bob, { added: [keyless] });
    add("the same, seen by one that it removes", carol, { added: [keyless], removed: [carol] });
    add("without a key, and the sealing taken out", bob, { added: [keyless], ...into(undefined) });
    const others: Readonly<Record<string, Sealing | undefined>> = {
      "taken out": undefined,
      "made to require": newSealing("require"),
      "made to prefer": newSealing("prefer"),
      "from later": { required: false, since: 1 },
    };
    for (const [what, sealing] of Object.entries(others)) {
      add(`the sealing ${what}`, bob, into(sealing));
      add(`the sealing ${what}, with somebody`, bob, { added: [sealed], ...into(sealing) });
    }
  }
  const withKey = ["somebody with a key", "somebody with another's key", "two with one key"];
  return await verdictsOf(tries, [
    ...["require", "prefer", "none"].flatMap((choice) =>
      withKey.map((what) => `${choice}: ${what}`)
    ),
    "prefer: without a key, and the sealing taken out",
    "none: somebody without a key",
    "none: the same, seen by one that it removes",
    // These change nothing.
    "require: the sealing made to require",
    "require: the sealing made to require, with somebody",
    "prefer: the sealing made to prefer",
    "prefer: the sealing made to prefer, with somebody",
    "none: without a key, and the sealing taken out",
    "none: the sealing taken out",
    "none: the sealing taken out, with somebody",
  ]);
}

/** A base, members of which some have no key, and what a founder's modified program writes. */
async function foundingVerdicts(): Promise<string> {
  const tries: (readonly [string, () => unknown])[] = [];
  const regained = { required: false, since: foundingEpoch(1) + 1 };
  const founded: Readonly<Record<string, Sealing | undefined>> = {
    "none": undefined,
    "require": newSealing("require"),
    "prefer": newSealing("prefer"),
    "regained": regained,
    "from later": { required: false, since: foundingEpoch(1) + 2 },
    "required from there on": { ...regained, required: true },
  };
  const bases = {
    "require": newSealing("require"),
    "prefer": newSealing("prefer"),
    "none": undefined,
  };
  for (const [whose, base] of Object.entries(bases)) {
    for (const isMixed of [false, true]) {
      const world = new World(createRandom(16));
      const owner = await world.create(base);
      const [bob, carol] = [world.newAgent(), world.newAgent()];
      await world.add(owner, bob, carol);
      for (const [what, sealing] of Object.entries(founded)) {
        tries.push([`${whose} to ${what}${isMixed ? ", mixed" : ""}`, async () => {
          const own = await bob.createSealedKeyPackage();
          const other = isMixed ? carol.createKeyPackage() : await carol.createSealedKeyPackage();
          const plan = foundedPlan(owner, [own.keyPackage, other.keyPackage], { sealing });
          const { welcome } = atOnce(foundGroup(plan, owner.deps));
          check(welcome !== undefined, "somebody is welcomed");
          const ready = await readyToJoin(welcome, own, world.signatures);
          const deps = { ...bob.deps, findPsk: pskOf(plan.base) };
          const { binding: known } = bob.member;
          const { binding } = Group.join(welcome, ready, deps, { name, known });
          if (!mayFollow(binding.sealing, base, 1)) throw new Error("it is not followed");
        }]);
      }
    }
  }
  return await verdictsOf(tries, [
    "require to require",
    "prefer to none",
    "prefer to none, mixed",
    "prefer to prefer",
    "none to none",
    "none to none, mixed",
    "none to regained",
  ]);
}

/** A KeyPackage, a group and a founding of a known randomness are these bytes, as on this day. */
async function frozenBytes(): Promise<string> {
  const world = new World(createRandom(17));
  const owner = await world.create(newSealing("require"));
  const bob = world.newAgent();
  const { message } = await bob.createSealedKeyPackage();
  await world.add(owner, bob);
  const context = encodeContext(owner.member.current.context);
  const { keyPackage } = await bob.createSealedKeyPackage();
  const { welcome } = atOnce(foundGroup(foundedPlan(owner, [keyPackage]), owner.deps));
  check(welcome !== undefined, "somebody is welcomed");
  const digests = [message, context, welcome].map((bytes) => {
    const digest = new Digest();
    digest.add(bytes);
    return `${bytes.length} ${digest}`;
  });
  check(digests.join() === frozen.join(), `they are ${digests.join(", ")}`);
  return digests.join();
}

/** Lengths and digests of the three. */
const frozen = ["1525 041e63bbfc94fe03", "196 ce063e2438d00378", "2491 701d327e4bdd5434"];

/** Whatever byte of a layer is another one, its newcomer refuses the Welcome. */
async function everyByte(native: OpeningMlKem): Promise<string> {
  const { welcomeInto, join } = await createInvited(native);
  const honest = welcomeInto(newSealing("require"));
  await join(honest)();
  const [{ encryptedGroupSecrets: inner, newMember }, ...others] = honest.secrets as [
    Secrets,
    ...Secrets[],
  ];
  const verdicts: string[] = [];
  for (let at = 0; at < inner.ciphertext.length; at++) {
    const ciphertext = inner.ciphertext.with(at, (inner.ciphertext[at] ?? 0) ^ 0x80);
    const changed = { newMember, encryptedGroupSecrets: { ...inner, ciphertext } };
    let verdict = "taken";
    try {
      await join({ ...honest, secrets: [changed, ...others] })();
    } catch (error) {
      check(error instanceof MlsFault, `byte ${at}: ${String(error)}`);
      verdict = error.message;
    }
    check(verdict !== "taken", `byte ${at} is taken`);
    verdicts.push(verdict);
  }
  return verdicts.join("\n");
}

/** 3,328 is a number of a key at each of its places, and 3,329 is none. */
async function everyPlace(): Promise<string> {
  const own = await new World(createRandom(12)).newAgent().createSealedKeyPackage();
  const key = sealKeyOf(own.keyPackage);
  check(key !== undefined, "it has a key");
  for (let place = 0; place < 768; place++) {
    for (const [number, isGood] of [[3328, true], [3329, false], [4095, false]] as const) {
      const at = 3 * (place >> 1);
      const [a = 0, b = 0, c = 0] = key.subarray(at, at + 3);
      const [first, second] = [a | (b & 15) << 8, b >> 4 | c << 4];
      const [low, high] = place % 2 === 0 ? [number, second] : [first, number];
      const changed = key.slice();
      changed.set([low & 255, low >> 8 | (high & 15) << 4, high >> 4], at);
      check(isUsableSealKey(changed) === isGood, `${number} at ${place}`);
    }
  }
  return "each";
}
