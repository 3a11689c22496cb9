/**
 * This agent's KeyPackages. A KeyPackage leaves the process only after its private keys are on
 * disk; they are deleted when a Welcome has used them, or when the KeyPackage has expired.
 * `names/key_packages.ts` decides which the relay holds.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { equalBytes, type NoticeBody, readWelcomeHeader } from "../../../proto/mod.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import type { Runtime } from "../../base/runtime.ts";
import { type BadgeChoice, type BadgePlace, keyPackageEndMs, nowhere } from "../../mls/badges.ts";
import { MlsFault } from "../../mls/codec.ts";
import { createSealKey } from "../../mls/crypto/seal_layer.ts";
import type { Signatures } from "../../mls/crypto/signatures.ts";
import { defaultSuiteId } from "../../mls/crypto/suite.ts";
import type { MlsIdentity } from "../../mls/identity.ts";
import { encodeLeaf } from "../../mls/leaf.ts";
import { createKeyPackage, type OwnKeyPackage } from "../../mls/key_package.ts";
import { type JoiningKeyPackage, readyToJoin } from "../../mls/welcome.ts";
import type { ConnectionInfo, RelaySession } from "../../session/relay_session.ts";
import type { RecordChange, RecordStore } from "../../store/mod.ts";
import {
  checkUse,
  deleteKeyPackage,
  type EnteredGroup,
  keyPackageKind,
  keyPackageOf,
  knownOf,
  putKeyPackage,
  putUploaded,
  type StoredKeyPackage,
  uploadedId,
  uploadedKind,
  uploadedOf,
  usedFor,
} from "../names/key_package_records.ts";
import { lifetimeMs, stepKeyPackages } from "../names/key_packages.ts";
import {
  type KeyPackageEffect,
  type KeyPackageEvent,
  type KnownKeyPackage,
  newKeyPackages,
  type Purpose,
} from "../names/key_package_state.ts";

/**
 * Between the beginning of its lifetime and its making: before the relay's clock is known, ours may
 * be late by this much.
 */
export const backdatedMs = 60 * 60 * 1000;

export interface KeyPackageDeps {
  readonly store: Pick<RecordStore, "list" | "get" | "has" | "batch">;
  readonly session: Pick<RelaySession, "call" | "state">;
  readonly identity: MlsIdentity;
  readonly signatures: Signatures;
  readonly runtime: Runtime;
  /** Returns the time by the relay's clock. */
  readonly relayNowMs: () => number;
  /** None when it is not given. */
  readonly badges?: BadgeChoice | undefined;
}

export class KeyPackages {
  readonly #deps: KeyPackageDeps;
  readonly #state = newKeyPackages();
  /** The KeyPackages that the refill under way has made. */
  #made: readonly StoredKeyPackage[] = [];
  readonly #operations = new Map<number, Deferred<void>>();
  #calls = 0;

  constructor(deps: KeyPackageDeps) {
    this.#deps = deps;
  }

  /** Creates a KeyPackage to hand to the member that will add us. */
  async create(place: BadgePlace = nowhere): Promise<OwnKeyPackage> {
    const made = await this.#make("handed", place);
    await this.#deps.store.batch([putKeyPackage(made)]);
    return made.own;
  }

  /**
   * The one that a Welcome was made for, ready to join by it. Throws `MlsFault` when its private
   * keys are not (or no longer) here.
   */
  async findFor(welcome: Uint8Array): Promise<JoiningKeyPackage> {
    const reference = recipientsOf(welcome).find((each) =>
      this.#deps.store.has(keyPackageKind, bytesToHex(each))
    );
    const found = reference && await this.find(reference);
    if (found !== undefined) return await readyToJoin(welcome, found, this.#deps.signatures);
    throw new MlsFault(
      "The Welcome is for a KeyPackage that this agent does not have, or has used already",
    );
  }

  async find(reference: Uint8Array): Promise<OwnKeyPackage | undefined> {
    return (await this.#stored(reference))?.own;
  }

  /** Whether this is the leaf, as bytes, of a KeyPackage whose private keys are here. */
  async holdsLeaf(leaf: Uint8Array): Promise<boolean> {
    return (await this.#list()).some(({ own }) =>
      equalBytes(encodeLeaf(own.keyPackage.leafNode), leaf)
    );
  }

  /**
   * Returns the changes to write with the group that a Welcome for this KeyPackage led into. Throws
   * `MlsFault`; see `checkUse`.
   */
  async used({ reference }: OwnKeyPackage, group: EnteredGroup): Promise<RecordChange[]> {
    const stored = await this.#stored(reference);
    checkUse(stored, group);
    return usedFor(stored, group);
  }

  /**
   * The same changes of this moment: by a last resort another channel may have been entered since
   * `used` was asked.
   */
  async usedNow(
    { reference }: OwnKeyPackage,
    group: Pick<EnteredGroup, "groupId">,
  ): Promise<RecordChange[]> {
    return usedFor(await this.#stored(reference), group);
  }

  /** Deletes the KeyPackages of requests that are over. */
  async forget(gone: readonly OwnKeyPackage[]): Promise<void> {
    if (gone.length === 0) return;
    await this.#deps.store.batch(
      gone.map(({ reference }) => deleteKeyPackage(bytesToHex(reference))),
    );
  }

  /** Call after a channel was entered: a last resort that was used is replaced. */
  renew(): void {
    this.#happen({ type: "asked", cause: { of: "use" } });
  }

  /**
   * The relay gets others in place of those that it holds. The keys of those stay for a Welcome
   * that is on its way.
   */
  replace(): Promise<void> {
    const operation = ++this.#calls;
    const answer = createDeferred<void>();
    this.#operations.set(operation, answer);
    this.#happen({ type: "asked", cause: { of: "program", operation } });
    return answer.promise;
  }

  /**
   * Call at every connection: the relay may have restarted, or hold KeyPackages whose keys were
   * lost here.
   */
  connected({ keyPackages, hasLastResort, limits }: ConnectionInfo): void {
    const holding = { held: keyPackages, hasLastResort, room: limits.keyPackagesPerAgent };
    this.#happen({ type: "asked", cause: { of: "connection", ...holding } });
  }

  /** The relay asks for more; `wanted` is for how many it has room. */
  low({ remaining, wanted, hasLastResort }: NoticeBody<"KeyPackagesLow">): void {
    const holding = { held: remaining, hasLastResort, room: wanted };
    this.#happen({ type: "asked", cause: { of: "reminder", ...holding } });
  }

  /** Nothing is under way to the relay. */
  get isResting(): boolean {
    return this.#state.refill.at === "resting";
  }

  #happen(event: KeyPackageEvent): void {
    const { relayNowMs, session: { state: { kind } } } = this.#deps;
    const { effects } = stepKeyPackages(this.#state, event, {
      nowMs: relayNowMs(),
      isOnline: kind === "online",
    });
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: KeyPackageEffect): void {
    if (effect.type === "answer") return this.#answer(effect);
    const { job } = effect;
    const end = this.#carryOut(effect).catch((error): KeyPackageEvent => ({
      type: "failed",
      job,
      error,
    }));
    void end.then((event) => this.#happen(event));
  }

  async #carryOut(effect: Exclude<KeyPackageEffect, { type: "answer" }>): Promise<KeyPackageEvent> {
    const { job } = effect;
    switch (effect.type) {
      case "look":
        this.#made = [];
        return { type: "looked", job, known: await this.#known() };
      case "write": {
        const purposes = Array.from({ length: effect.pool }, (): Purpose => "pool");
        if (effect.lastResort) purposes.push("last_resort");
        this.#made = await Promise.all(purposes.map((purpose) => this.#make(purpose)));
        await this.#deps.store.batch([
          ...this.#made.map(putKeyPackage),
          ...effect.forget.map(deleteKeyPackage),
        ]);
        return {
          type: "written",
          job,
          made: this.#made.map(({ own }) => bytesToHex(own.reference)),
        };
      }
      case "upload":
        await this.#upload(effect.upload);
        return { type: "uploaded", job };
      case "note":
        await this.#deps.store.batch([putUploaded(effect.there)]);
        return { type: "noted", job };
    }
  }

  async #upload(
    { lastResort, replace }: Extract<KeyPackageEffect, { type: "upload" }>["upload"],
  ): Promise<void> {
    const { store, session } = this.#deps;
    const made = this.#made;
    this.#made = [];
    const known = lastResort?.is === "known"
      ? await store.get(keyPackageKind, lastResort.id)
      : undefined;
    const last = known
      ? keyPackageOf(known)
      : made.find(({ purpose }) => purpose === "last_resort");
    await session.call("UploadKeyPackage", {
      keyPackages: made.filter(({ purpose }) => purpose === "pool").map(({ own }) => own.message),
      lastResort: last?.own.message,
      replace,
    });
  }

  #answer({ operation, failed }: Extract<KeyPackageEffect, { type: "answer" }>): void {
    const answer = this.#operations.get(operation);
    this.#operations.delete(operation);
    if (failed === undefined) answer?.resolve();
    else answer?.reject(failed.error);
  }

  async #make(purpose: Purpose, place: BadgePlace = nowhere): Promise<StoredKeyPackage> {
    const { identity, signatures, runtime, relayNowMs } = this.#deps;
    const randomBytes = (length: number): Uint8Array => runtime.randomBytes(length);
    const sealKey = await createSealKey(randomBytes, signatures.xWing);
    const madeAtMs = relayNowMs();
    const badges = this.#deps.badges?.(place);
    const latestMs = madeAtMs + lifetimeMs;
    const own = createKeyPackage({
      suiteId: defaultSuiteId,
      identity,
      notBeforeMs: madeAtMs - backdatedMs,
      notAfterMs: keyPackageEndMs(badges, { nowMs: madeAtMs, latestMs }),
      badges,
      lastResort: purpose === "last_resort",
      sealKey,
      randomBytes,
      signatures,
    });
    return { purpose, madeAtMs, own, entered: [] };
  }

  async #stored(reference: Uint8Array): Promise<StoredKeyPackage | undefined> {
    const record = await this.#deps.store.get(keyPackageKind, bytesToHex(reference));
    return record && keyPackageOf(record);
  }

  async #known(): Promise<KnownKeyPackage[]> {
    const uploaded = uploadedOf(await this.#deps.store.get(uploadedKind, uploadedId));
    const badges = this.#deps.badges?.(nowhere);
    return (await this.#list()).map((stored) => knownOf(stored, { uploaded, badges }));
  }

  async #list(): Promise<StoredKeyPackage[]> {
    return (await this.#deps.store.list(keyPackageKind)).map(({ value }) => keyPackageOf(value));
  }
}

function recipientsOf(welcome: Uint8Array): readonly Uint8Array[] {
  try {
    return readWelcomeHeader(welcome).recipients;
  } catch (cause) {
    throw new MlsFault("The bytes are no Welcome", { cause });
  }
}
