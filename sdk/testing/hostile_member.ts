/**
 * Messages of a member with a modified client: everything that its keys can seal, including what
 * the SDK would never send.
 */
import {
  type AgentId,
  binaryIdFromBytes,
  binaryIdToBytes,
  encodeBundle,
  encodeMessageAad,
  type MessageId,
  type RequestBody,
} from "../../proto/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import type { Agent } from "../channel/agent.ts";
import { Inside } from "./inside.ts";
import { type ChannelBinding, encodeBinding } from "../mls/channel_extensions.ts";
import { commitWith, createCommit, type CreatedCommit, pathOf } from "../mls/commit.ts";
import { aeadOfEpoch, type Epoch } from "../mls/epoch.ts";
import { applyProposals } from "../mls/proposals.ts";
import { vector } from "../mls/codec.ts";
import { contentToSign, type FramedContent, sealMessage } from "../mls/framing.ts";
import { decodeKeyPackageMessage } from "../mls/key_package.ts";
import { noVersion, signChange, versionOf } from "../mls/owners_chain.ts";
import { encodeShownChanges } from "../mls/shown_owners.ts";

type SendMessage = RequestBody<"SendMessage">;

export class HostileMember {
  readonly #inside: Inside;
  readonly #agent: Agent;

  private constructor(inside: Inside, agent: Agent) {
    this.#inside = inside;
    this.#agent = agent;
  }

  static async of(agent: Agent, channel: string): Promise<HostileMember> {
    return new HostileMember(await Inside.of(agent, channel), agent);
  }

  get leafIndex(): number {
    return this.#inside.group.self.leafIndex;
  }

  /** A message as it should be, with a counter of one's choice. */
  async counted(
    counter: number,
    payload = "counted",
    messageId = this.#newId(),
  ): Promise<SendMessage> {
    const inside = this.#inside;
    const { channelId } = inside;
    const aad = encodeMessageAad({ messageId, counter });
    const { epoch, message } = await inside.seal(new TextEncoder().encode(payload), aad);
    return { channelId, epoch, messageId, ciphertext: message };
  }

  /** Several messages as one, which says that they are `count`. */
  async bundled(
    counter: number,
    parts: readonly Uint8Array[],
    count = parts.length,
  ): Promise<SendMessage> {
    const inside = this.#inside;
    const { channelId } = inside;
    const messageId = this.#newId();
    const plaintext = encodeBundle(parts.map((part) => ({ id: this.#newId(), plaintext: part })));
    const { epoch, message } = await inside.seal(
      plaintext,
      encodeMessageAad({ messageId, counter, count }),
    );
    return { channelId, epoch, messageId, ciphertext: message };
  }

  /** A message that nobody can open. */
  async garbage(counter: number): Promise<SendMessage> {
    const { ciphertext, ...rest } = await this.counted(counter);
    const broken = ciphertext.slice();
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
    return { ...rest, ciphertext: broken };
  }

  /**
   * Another id under the same counter and key, as a sender would make it that has forgotten what it
   * sent.
   */
  again({ ciphertext, messageId, ...rest }: SendMessage): SendMessage {
    const [before, after] = [binaryIdToBytes(messageId), this.#newId()];
    const at = ciphertext.findIndex((_, start) =>
      before.every((byte, i) => ciphertext[start + i] === byte)
    );
    const changed = ciphertext.slice();
    changed.set(binaryIdToBytes(after), at);
    return { ...rest, messageId: after, ciphertext: changed };
  }

  /**
   * Sender data is sealed with a key that all members have: it claims any leaf and any generation.
   */
  forged(
    { leafIndex, generation }: { readonly leafIndex: number; readonly generation: number },
  ): SendMessage {
    const { group, channelId } = this.#inside;
    const { context, secrets } = group.current;
    const messageId = this.#newId();
    const random = (length: number): Uint8Array => this.#agent.parts.runtime.randomBytes(length);
    const aead = aeadOfEpoch(group.current);
    const ciphertext = sealMessage({
      groupId: context.groupId,
      epoch: context.epoch,
      sender: leafIndex,
      authenticatedData: encodeMessageAad({ messageId, counter: 1 }),
      contentType: "application",
      content: random(64),
    }, {
      aead,
      senderDataSecret: secrets.senderData,
      messageKey: { key: random(aead.keyBytes), nonce: random(aead.nonceBytes), generation },
      reuseGuard: random(4),
      auth: random(66),
      paddingBytes: 0,
    });
    return { channelId, epoch: Number(context.epoch), messageId, ciphertext };
  }

  /**
   * A Welcome into a group of which it has made itself the only owner, with a chain that a newcomer
   * would believe: it removes the victim and adds it again.
   */
  usurp(victim: AgentId, keyPackage: Uint8Array): Uint8Array {
    const { group: { current, binding }, channelId } = this.#inside;
    const place = this.#inside.memberOf(victim);
    if (place === undefined) throw new TypeError("the victim is no member");
    const { identity, signatures, runtime } = this.#agent.parts;
    const owners = [this.#agent.agentId];
    const change = signChange({ channelId, before: noVersion, owners }, identity, signatures);
    const { version, lastChange } = versionOf(change);
    const extensions = encodeBinding({ ...binding, owners, chain: { version, lastChange } });
    const { welcome } = atOnce(createCommit(current, {
      proposals: [
        { proposalType: "group_context_extensions", groupContextExtensions: { extensions } },
        { proposalType: "remove", remove: { removed: place.leafIndex } },
        { proposalType: "add", add: { keyPackage: decodeKeyPackageMessage(keyPackage) } },
      ],
      identity,
      authenticatedData: new Uint8Array(0),
      padding: () => 0,
      groupInfoExtensions: encodeShownChanges([change]),
    }, {
      signatures,
      policy: () => undefined,
      randomBytes: (length) => runtime.randomBytes(length),
      findPsk: () => undefined,
    }));
    if (welcome === undefined) throw new TypeError("a commit that adds somebody has a Welcome");
    return welcome;
  }

  /**
   * Chains are known to all members: a message opens as another's, and only its signature says that
   * it is not.
   */
  impersonating(
    { leafIndex, generation }: { readonly leafIndex: number; readonly generation: number },
  ): SendMessage {
    const { group, channelId } = this.#inside;
    const { context, secrets, secretTree, contextBytes } = group.current;
    const messageKey = secretTree.find(leafIndex, "application", generation);
    if (typeof messageKey === "string") {
      throw new Error(`No key of generation ${generation}: ${messageKey}`);
    }
    const messageId = this.#newId();
    const { runtime, signatures, identity } = this.#agent.parts;
    const framed: FramedContent = {
      groupId: context.groupId,
      epoch: context.epoch,
      sender: leafIndex,
      authenticatedData: encodeMessageAad({ messageId, counter: 1 }),
      contentType: "application",
      content: vector(Uint8Array.of(1)),
    };
    const signature = signatures.sign(identity.signingSeed, contentToSign(framed, contextBytes));
    const ciphertext = sealMessage(framed, {
      aead: aeadOfEpoch(group.current),
      senderDataSecret: secrets.senderData,
      messageKey,
      reuseGuard: runtime.randomBytes(4),
      auth: vector(signature),
      paddingBytes: 0,
    });
    return { channelId, epoch: Number(context.epoch), messageId, ciphertext };
  }

  /**
   * A commit whose path is garbled on some levels, counted from its leaf: members there cannot
   * follow, the others can.
   */
  garbledCommit(levels: readonly number[]): { readonly message: Uint8Array; readonly next: Epoch } {
    const { current } = this.#inside.group;
    const { identity, signatures, runtime } = this.#agent.parts;
    const deps = {
      signatures,
      policy: () => undefined,
      randomBytes: (length: number) => runtime.randomBytes(length),
      findPsk: () => undefined,
    };
    const applied = atOnce(applyProposals(current, current.ownLeaf, [], deps));
    const path = atOnce(pathOf(current, applied, identity, deps));
    const nodes = path.updatePath.nodes.map((node, level) =>
      !levels.includes(level) ? node : {
        ...node,
        encryptedPathSecret: node.encryptedPathSecret.map((secret) => ({
          ...secret,
          ciphertext: runtime.randomBytes(secret.ciphertext.length),
        })),
      }
    );
    const input = {
      proposals: [],
      identity,
      authenticatedData: new Uint8Array(0),
      padding: () => 0,
    };
    const garbled = { ...path, updatePath: { ...path.updatePath, nodes } };
    return atOnce(commitWith(current, input, { applied, path: garbled }, deps));
  }

  /**
   * A commit that leaves the channel with this binding, adds these KeyPackages and removes these
   * agents, whatever it may do.
   */
  commitTo(
    binding: Partial<ChannelBinding>,
    add: readonly Uint8Array[] = [],
    remove: readonly AgentId[] = [],
  ): Pick<CreatedCommit, "message" | "next" | "welcome"> {
    const { group } = this.#inside;
    const leaves = group.members().filter(({ agentId }) => remove.includes(agentId));
    const { identity, signatures, runtime } = this.#agent.parts;
    const extensions = encodeBinding({ ...group.binding, ...binding });
    return atOnce(createCommit(group.current, {
      proposals: [
        { proposalType: "group_context_extensions", groupContextExtensions: { extensions } },
        ...leaves.map(({ leafIndex }) => ({
          proposalType: "remove" as const,
          remove: { removed: leafIndex },
        })),
        ...add.map((each) => ({
          proposalType: "add" as const,
          add: { keyPackage: decodeKeyPackageMessage(each) },
        })),
      ],
      identity,
      authenticatedData: new Uint8Array(0),
      padding: () => 0,
      groupInfoExtensions: encodeShownChanges(group.changes),
    }, {
      signatures,
      policy: () => undefined,
      randomBytes: (length) => runtime.randomBytes(length),
      findPsk: () => undefined,
    }));
  }

  async send(message: SendMessage): Promise<void> {
    await this.#agent.parts.session.call("SendMessage", message);
  }

  #newId(): MessageId {
    return binaryIdFromBytes<MessageId>(this.#agent.parts.runtime.randomBytes(16));
  }
}
