/**
 * This agent's KeyPackages. A KeyPackage leaves the process only after its private keys are on disk; they are deleted when a
 * Welcome has used them, or when the KeyPackage has expired. The relay holds a few in memory for members that add this agent
 * by its id: they are refilled when they run low, after the relay has restarted, and replaced when our keys for them are gone.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  binaryIdFromBytes,
  channelExtensions,
  type ChannelId,
  equalBytes,
  limits,
  type NoticeBody,
  readWelcomeHeader,
} from "../../proto/mod.ts";
import type { Runtime } from "../base/runtime.ts";
import { Serial } from "../base/serial.ts";
import { MlsFault } from "../mls/codec.ts";
import type { Signatures } from "../mls/crypto/signatures.ts";
import { defaultSuiteId } from "../mls/crypto/suite.ts";
import type { MlsIdentity } from "../mls/identity.ts";
import { encodeLeaf, listsExtension } from "../mls/leaf.ts";
import { createKeyPackage, type OwnKeyPackage, restoreKeyPackage } from "../mls/key_package.ts";
import type { ConnectionInfo, RelaySession } from "../session/relay_session.ts";
import { decodeFields, encodeFields, type RecordChange, type RecordStore } from "../store/mod.ts";

const kind = "keypackages";
const dayMs = 24 * 60 * 60 * 1000;
const lifetimeMs = 30 * dayMs;
/** A KeyPackage of last resort may be handed out many times: it is renewed after a use, and while it is still good. */
const lastResortAgeMs = 7 * dayMs;
/** KeyPackages to upload, if the relay has room for so many. */
const poolSize = 10;
/**
 * KeyPackages that the relay was given and nobody has used so far. A relay that restarts, or lies, asks for more
 * without end. Then the oldest are deleted, and a member that adds this agent with one of them has to try again.
 */
const maxPooled = 100;
/** Channels that one agent enters by one last resort, in the month that it is good. */
const maxLastResortUses = 1000;
/** Between the beginning of its lifetime and its making: before the relay's clock is known, ours may be late by this much. */
export const backdatedMs = 60 * 60 * 1000;

/** Why a KeyPackage was made: only those of the pool are the relay's to give away. */
type Purpose = "handed" | "pool" | "last_resort";

interface StoredKeyPackage {
  readonly purpose: Purpose;
  readonly madeAtMs: number;
  readonly own: OwnKeyPackage;
  /** Of a last resort: the channels that it has led into; in older records by an epoch's confirmation tag in hexadecimal. */
  readonly entered: readonly string[];
}

export interface KeyPackageDeps {
  readonly store: Pick<RecordStore, "list" | "get" | "batch">;
  readonly session: Pick<RelaySession, "call">;
  readonly identity: MlsIdentity;
  readonly signatures: Signatures;
  readonly runtime: Runtime;
  /** By the relay's clock. */
  readonly relayNowMs: () => number;
}

export class KeyPackages {
  readonly #deps: KeyPackageDeps;
  /** Two refills at once would upload twice as many. */
  readonly #refills = new Serial();
  /** How many the relay takes. */
  #wanted = poolSize;
  /** A reminder waits for its turn: another one says nothing new. */
  #reminded = false;

  constructor(deps: KeyPackageDeps) {
    this.#deps = deps;
  }

  /** Creates a KeyPackage to hand to the member that will add us. */
  async create(): Promise<OwnKeyPackage> {
    const [made] = await this.#make("handed", 1);
    if (made === undefined) throw new MlsFault("No KeyPackage was made");
    return made;
  }

  /** The one that a Welcome was made for. Throws `MlsFault` when its private keys are not (or no longer) here. */
  async findFor(welcome: Uint8Array): Promise<OwnKeyPackage> {
    for (const reference of recipientsOf(welcome)) {
      const found = await this.find(reference);
      if (found !== undefined) return found;
    }
    throw new MlsFault("The Welcome is for a KeyPackage that this agent does not have, or has used already");
  }

  async find(reference: Uint8Array): Promise<OwnKeyPackage | undefined> {
    return (await this.#stored(reference))?.own;
  }

  /** Whether this is the leaf, as bytes, of a KeyPackage whose private keys are here. */
  async holdsLeaf(leaf: Uint8Array): Promise<boolean> {
    return (await this.#list()).some(({ own }) => equalBytes(encodeLeaf(own.keyPackage.leafNode), leaf));
  }

  /**
   * Returns the changes to write with the group that a Welcome for this KeyPackage led into. A last resort stays for
   * agents that already hold it, so it records the channel: following one Welcome twice would use keys twice, and a
   * leaf that is in a group a second time would make statements about the first one true again. Throws `MlsFault` for a
   * channel that it has led into before.
   */
  async used(
    { reference }: OwnKeyPackage,
    { groupId, confirmationTag }: { readonly groupId: Uint8Array; readonly confirmationTag: Uint8Array },
  ): Promise<RecordChange[]> {
    const stored = await this.#stored(reference);
    const channelId = binaryIdFromBytes<ChannelId>(groupId);
    const entered = stored?.purpose === "last_resort" ? stored.entered : [];
    const before = [channelId, bytesToHex(confirmationTag)].some((name) => entered.includes(name));
    if (before || entered.length >= maxLastResortUses) {
      throw new MlsFault("This agent has followed the Welcome before; ask for a new one");
    }
    return usedFor(channelId, stored);
  }

  /** The same changes of this moment: by a last resort another channel may have been entered since `used` was asked. */
  async usedNow(
    { reference }: OwnKeyPackage,
    { groupId }: { readonly groupId: Uint8Array },
  ): Promise<RecordChange[]> {
    return usedFor(binaryIdFromBytes<ChannelId>(groupId), await this.#stored(reference));
  }

  async #stored(reference: Uint8Array): Promise<StoredKeyPackage | undefined> {
    const record = await this.#deps.store.get(kind, bytesToHex(reference));
    return record && decode(record);
  }

  /** Call after a channel was entered: a last resort that was used is replaced. */
  renew(): Promise<void> {
    return this.#refills.run(async () => {
      const known = (await this.#list()).filter(({ purpose }) => purpose === "last_resort");
      if (known.length === 0 || this.#freshLastResort(known) !== undefined) return;
      await this.#upload({ count: 0, lastResort: true, replace: false });
    });
  }

  /** The relay gets others in place of those that it holds. The keys of those stay for a Welcome that is on its way. */
  replace(): Promise<void> {
    return this.#refills.run(async () => {
      const pool = await this.#make("pool", this.#wanted);
      const [lastResort] = await this.#make("last_resort", 1);
      await this.#deps.session.call("UploadKeyPackage", {
        keyPackages: pool.map(({ message }) => message),
        ...(lastResort !== undefined && { lastResort: lastResort.message }),
        replace: true,
      });
    });
  }

  /** Those of requests that are over. */
  async forget(gone: readonly OwnKeyPackage[]): Promise<void> {
    if (gone.length > 0) await this.#deps.store.batch(gone.map(({ reference }) => deletion(reference)));
  }

  /** Call at every connection: the relay may have restarted, or hold KeyPackages whose keys were lost here. */
  connected({ keyPackages, hasLastResort, limits: { keyPackagesPerAgent } }: ConnectionInfo): Promise<void> {
    return this.#refills.run(async () => {
      const known = await this.#deleteExpired();
      // KeyPackages that an earlier version uploaded are replaced; their keys stay for a Welcome that is on its way.
      const pool = known.filter(({ purpose, own }) => purpose === "pool" && !isOlder(own)).length;
      const lastResort = this.#freshLastResort(known);
      const replace = keyPackages > pool || (hasLastResort && lastResort === undefined);
      const wanted = this.#wanted = Math.min(poolSize, keyPackagesPerAgent);
      const missing = replace ? wanted : wanted - keyPackages;
      if (missing > wanted / 2 || !hasLastResort || replace) {
        await this.#upload({ count: Math.max(missing, 0), lastResort: !hasLastResort || replace, replace });
      }
    });
  }

  /** The relay asks for more; `wanted` is for how many it has room. */
  async low({ remaining, wanted, hasLastResort }: NoticeBody<"KeyPackagesLow">): Promise<void> {
    if (this.#reminded) return;
    this.#reminded = true;
    await this.#refills.run(async () => {
      this.#reminded = false;
      const count = Math.max(0, Math.min(wanted, poolSize - remaining));
      if (count > 0 || !hasLastResort) await this.#upload({ count, lastResort: !hasLastResort, replace: false });
    });
  }

  async #upload(wanted: { count: number; lastResort: boolean; replace: boolean }): Promise<void> {
    const keyPackages = (await this.#make("pool", wanted.count)).map(({ message }) => message);
    await this.#delete(oldest((await this.#list()).filter(({ purpose }) => purpose === "pool")));
    const lastResort = wanted.lastResort ? await this.#lastResort() : undefined;
    await this.#deps.session.call("UploadKeyPackage", {
      keyPackages,
      ...(lastResort !== undefined && { lastResort: lastResort.message }),
      replace: wanted.replace,
    });
  }

  async #lastResort(): Promise<OwnKeyPackage | undefined> {
    const known = this.#freshLastResort(await this.#list());
    if (known !== undefined) return known.own;
    const [made] = await this.#make("last_resort", 1);
    return made;
  }

  #freshLastResort(known: readonly StoredKeyPackage[]): StoredKeyPackage | undefined {
    const nowMs = this.#deps.relayNowMs();
    // The newest: others may be left from before they were replaced.
    return known.toSorted((a, b) => b.madeAtMs - a.madeAtMs).find(({ purpose, madeAtMs, entered, own }) =>
      purpose === "last_resort" && entered.length === 0 && !isOlder(own) && nowMs - madeAtMs < lastResortAgeMs
    );
  }

  async #make(purpose: Purpose, count: number): Promise<OwnKeyPackage[]> {
    const { identity, signatures, runtime, relayNowMs, store } = this.#deps;
    const madeAtMs = relayNowMs();
    const made: OwnKeyPackage[] = [];
    for (let i = 0; i < count; i++) {
      made.push(
        createKeyPackage({
          suiteId: defaultSuiteId,
          identity,
          notBeforeMs: madeAtMs - backdatedMs,
          notAfterMs: madeAtMs + lifetimeMs,
          lastResort: purpose === "last_resort",
          randomBytes: (length) => runtime.randomBytes(length),
          signatures,
        }),
      );
    }
    if (made.length > 0) await store.batch(made.map((own) => put({ purpose, madeAtMs, own, entered: [] })));
    return made;
  }

  async #list(): Promise<StoredKeyPackage[]> {
    return (await this.#deps.store.list(kind)).map(({ value }) => decode(value));
  }

  /** Returns those that are left. */
  async #deleteExpired(): Promise<StoredKeyPackage[]> {
    const [all, nowMs] = [await this.#list(), this.#deps.relayNowMs()];
    const expired = all.filter(({ madeAtMs }) => nowMs > madeAtMs + lifetimeMs + limits.clockSkewMs);
    await this.#delete(expired);
    return all.filter((each) => !expired.includes(each));
  }

  async #delete(gone: readonly StoredKeyPackage[]): Promise<void> {
    if (gone.length === 0) return;
    await this.#deps.store.batch(gone.map(({ own }) => deletion(own.reference)));
  }
}

/** Made by a version that knew less: not every channel can take it. */
function isOlder({ keyPackage: { leafNode } }: OwnKeyPackage): boolean {
  return !channelExtensions.every((type) => listsExtension(leafNode, type));
}

function usedFor(channelId: ChannelId, stored: StoredKeyPackage | undefined): RecordChange[] {
  if (stored === undefined) return [];
  const { purpose, own, entered } = stored;
  return [purpose === "last_resort" ? put({ ...stored, entered: [...entered, channelId] }) : deletion(own.reference)];
}

function deletion(reference: Uint8Array): RecordChange {
  return { type: "delete", kind, id: bytesToHex(reference) };
}

/** Those beyond what is kept. */
function oldest(pool: StoredKeyPackage[]): StoredKeyPackage[] {
  return pool.sort((a, b) => b.madeAtMs - a.madeAtMs).slice(maxPooled);
}

function recipientsOf(welcome: Uint8Array): readonly Uint8Array[] {
  try {
    return readWelcomeHeader(welcome).recipients;
  } catch (cause) {
    throw new MlsFault("The bytes are no Welcome", { cause });
  }
}

function put({ purpose, madeAtMs, own, entered }: StoredKeyPackage): RecordChange {
  const { message, initPrivateKey, leafPrivateKey, reference } = own;
  const value = encodeFields([purpose, madeAtMs, message, initPrivateKey, leafPrivateKey, [...entered]]);
  return { type: "put", kind, id: bytesToHex(reference), value };
}

function decode(record: Uint8Array): StoredKeyPackage {
  const fields = decodeFields(record, kind);
  const purpose = fields.text(0);
  return {
    purpose: purpose === "pool" || purpose === "last_resort" ? purpose : "handed",
    madeAtMs: fields.number(1),
    own: restoreKeyPackage({
      message: fields.bytes(2),
      initPrivateKey: fields.bytes(3),
      leafPrivateKey: fields.bytes(4),
    }),
    entered: fields.list(5).map(String),
  };
}
