/**
 * A member that runs ts-mls as published: its group logic, its codecs and, in suite 1, its
 * cryptography too (WebCrypto and `@hpke/core`). Only keys and extensions are ours. It is the
 * second judge of this folder, beside the working group's vectors.
 */
import {
  type AgentId,
  agentIdOf,
  binaryIdToBytes,
  leafExtensions,
  type OwnersChange,
} from "../../../proto/mod.ts";
import { encodeBinding } from "../channel_extensions.ts";
import { portableSignatures } from "./portable_signatures.ts";
import { suiteNames } from "../crypto/suite.ts";
import type { MlsIdentity } from "../identity.ts";
import type { KeyPackage } from "../key_package.ts";
import { noVersion, signChange, versionOf } from "../owners_chain.ts";
import { encodeShownChanges } from "../shown_owners.ts";
import { decodeMlsMessage, encodeMlsMessage, type Extension, type Proposal } from "../ts_mls.ts";
import { decodeWelcomeMessage } from "../welcome.ts";
import {
  type CiphersuiteImpl,
  type ClientState,
  createApplicationMessage,
  createCommit,
  createGroup,
  createProposal,
  defaultClientConfig,
  defaultCryptoProvider,
  emptyPskIndex,
  generateKeyPackageWithKey,
  getCiphersuiteFromName,
  joinGroup,
  type PrivateKeyPackage,
  processPrivateMessage,
} from "./ts_mls.ts";
import { createTsMlsSuite } from "./ts_mls_suite.ts";
import { type Agent, name, type World, worldMs } from "./world.ts";

/**
 * Suite 1 with ts-mls' own cryptography. Its suite 3 needs a package that this project does not
 * have: there it uses ours.
 */
export async function publishedSuite(world: World): Promise<CiphersuiteImpl> {
  const { suiteId, signatures, random } = world;
  if (suiteId === 1) {
    return await defaultCryptoProvider.getCiphersuiteImpl(getCiphersuiteFromName(suiteNames[1]));
  }
  return createTsMlsSuite(suiteId, { randomBytes: (length) => random.bytes(length), signatures });
}

/** ts-mls looks at the machine's clock; ours at the world's, which stands still. */
const lifetime = {
  notBefore: BigInt(Math.floor(worldMs / 1000)),
  notAfter: BigInt(Math.floor(Date.now() / 1000) + 86_400),
};
const config = {
  ...defaultClientConfig,
  lifetimeConfig: { ...defaultClientConfig.lifetimeConfig, maximumTotalLifetime: 1n << 40n },
};

export interface PeerCommit {
  readonly bytes: Uint8Array;
  /** An MLSMessage, when somebody was added. */
  readonly welcome: Uint8Array | undefined;
}

export class TsMlsPeer {
  readonly id: AgentId;
  readonly keyPackage: KeyPackage;
  readonly #privateKeys: PrivateKeyPackage;
  readonly #suite: CiphersuiteImpl;
  #state: ClientState | undefined;

  private constructor(
    identity: MlsIdentity,
    keys: { publicPackage: KeyPackage; privatePackage: PrivateKeyPackage },
    suite: CiphersuiteImpl,
  ) {
    this.id = agentIdOf(identity.signatureKey, identity.identity);
    this.keyPackage = keys.publicPackage;
    this.#privateKeys = keys.privatePackage;
    this.#suite = suite;
  }

  /** With a KeyPackage that ts-mls made and signed. */
  static async create(world: World): Promise<TsMlsPeer> {
    return await TsMlsPeer.#of(world.newAgent().identity, world);
  }

  /** With a KeyPackage of ours, and its private keys. */
  static async with({ identity, own, world }: Agent): Promise<TsMlsPeer> {
    if (own === undefined) throw new Error("this agent has no KeyPackage");
    const privatePackage = {
      initPrivateKey: own.initPrivateKey,
      hpkePrivateKey: own.leafPrivateKey,
      signaturePrivateKey: identity.signingSeed,
    };
    const keys = { publicPackage: own.keyPackage, privatePackage };
    return new TsMlsPeer(identity, keys, await publishedSuite(world));
  }

  static async #of(identity: MlsIdentity, world: World): Promise<TsMlsPeer> {
    const suite = await publishedSuite(world);
    const capabilities = {
      versions: ["mls10" as const],
      ciphersuites: [suiteNames[world.suiteId]],
      extensions: [...leafExtensions],
      proposals: [],
      credentials: ["basic" as const],
    };
    const credential = { credentialType: "basic" as const, identity: identity.identity };
    const pair = { signKey: identity.signingSeed, publicKey: identity.signatureKey };
    const keys = await generateKeyPackageWithKey(
      credential,
      capabilities,
      lifetime,
      [],
      pair,
      suite,
    );
    return new TsMlsPeer(identity, keys, suite);
  }

  /**
   * A channel that ts-mls creates. Its name and owners are extensions that ts-mls carries without
   * knowing them.
   */
  static async found(world: World): Promise<{ peer: TsMlsPeer; changes: readonly OwnersChange[] }> {
    const { identity } = world.newAgent();
    const peer = await TsMlsPeer.#of(identity, world);
    const { channelId } = world;
    const change = await signChange(
      { channelId, before: noVersion, owners: [peer.id] },
      identity,
      portableSignatures,
    );
    const { version, lastChange } = versionOf(change);
    const extensions = encodeBinding({ name, owners: [peer.id], chain: { version, lastChange } });
    const groupId = binaryIdToBytes(channelId);
    peer.#state = await createGroup(
      groupId,
      peer.keyPackage,
      peer.#privateKeys,
      extensions,
      peer.#suite,
      config,
    );
    return { peer, changes: [change] };
  }

  async join(welcome: Uint8Array): Promise<void> {
    const decoded = decodeWelcomeMessage(welcome);
    const keys = [this.keyPackage, this.#privateKeys, emptyPskIndex, this.#suite] as const;
    this.#state = await joinGroup(decoded, ...keys, undefined, undefined, config);
  }

  get state(): ClientState {
    if (this.#state === undefined) throw new Error("this peer is not in the group");
    return this.#state;
  }

  get authenticator(): Uint8Array {
    return this.state.keySchedule.epochAuthenticator;
  }

  get extensions(): readonly Extension[] {
    return this.state.groupContext.extensions;
  }

  async say(text: Uint8Array): Promise<Uint8Array> {
    const { newState, privateMessage } = await createApplicationMessage(
      this.state,
      text,
      this.#suite,
    );
    this.#state = newState;
    return encodeMlsMessage({
      version: "mls10",
      wireformat: "mls_private_message",
      privateMessage,
    });
  }

  async propose(proposal: Proposal): Promise<Uint8Array> {
    const { newState, message } = await createProposal(this.state, false, proposal, this.#suite);
    this.#state = newState;
    return encodeMlsMessage(message);
  }

  /**
   * With the proposals that wait. The Welcome shows how the channel's owners came to be, as those
   * of ours do.
   */
  async commit(
    changes: readonly OwnersChange[],
    extraProposals: Proposal[] = [],
  ): Promise<PeerCommit> {
    const { newState, commit, welcome } = await createCommit({
      state: this.state,
      cipherSuite: this.#suite,
    }, {
      extraProposals,
      ratchetTreeExtension: true,
      groupInfoExtensions: encodeShownChanges(changes),
    });
    this.#state = newState;
    return {
      bytes: encodeMlsMessage(commit),
      welcome: welcome &&
        encodeMlsMessage({ version: "mls10", wireformat: "mls_welcome", welcome }),
    };
  }

  /**
   * Returns the plaintext of a message; undefined for a commit, which it follows. Throws where
   * ts-mls does.
   */
  async receive(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    const [message] = decodeMlsMessage(bytes, 0) ?? [];
    if (message?.wireformat !== "mls_private_message") throw new Error("this is no PrivateMessage");
    const result = await processPrivateMessage(
      this.state,
      message.privateMessage,
      emptyPskIndex,
      this.#suite,
    );
    this.#state = result.newState;
    return result.kind === "applicationMessage" ? result.message : undefined;
  }
}

/** The leaf of a member, as proposals of ts-mls name it. */
export function leafOf({ state }: TsMlsPeer, signatureKey: Uint8Array): number {
  const leaves = state.ratchetTree.filter((_, index) => index % 2 === 0);
  return leaves.findIndex((node) =>
    node?.nodeType === "leaf" &&
    node.leaf.signaturePublicKey.every((byte, i) => byte === signatureKey[i])
  );
}
