/**
 * How full the disk is. Growth is refused before it is full, so that what exists goes on: members
 * read, acknowledge, leave, are removed, and send to those who read. A last part is kept for what
 * makes room.
 */
import type { StorageSize } from "../../engine/engine.ts";
import { Refusal } from "../refusal.ts";

/**
 * `ok`; `tight`: no new channels, members, Welcomes and invites, and no messages where they pile
 * up; `full`: no messages at all and no commits but those that remove.
 */
export type StorageLevel = "ok" | "tight" | "full";

/** Asking the system takes microseconds, but not none. */
const sampleMs = 250;
/** Space that is kept free, unless the disk is small: then a tenth of it. */
export const reserveBytes = 1024 ** 3;
export const smallDiskPart = 0.1;
/** A channel whose members read has no more than this in its queue. */
const readQueueBytes = 1024 * 1024;

/** This relay's own disk has no room for it. Another relay of the same log may have some. */
export class DiskRefusal extends Refusal {
  constructor(message: string) {
    super("storage_full", message, { retryAfterMs: 30_000 });
  }
}

export class StorageWatch {
  readonly #read: () => StorageSize;
  readonly #nowMs: () => number;
  #size: StorageSize | undefined;
  #sampledAtMs = 0;
  /**
   * Taken since the disk was asked last, and between that and the time before: some of it may not
   * be written yet.
   */
  #taken = 0;
  #takenBefore = 0;

  constructor(read: () => StorageSize, nowMs: () => number) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  get size(): StorageSize {
    const nowMs = this.#nowMs();
    if (this.#size !== undefined && Math.abs(nowMs - this.#sampledAtMs) < sampleMs) {
      return this.#size;
    }
    this.#sampledAtMs = nowMs;
    this.#takenBefore = this.#taken;
    this.#taken = 0;
    return this.#size = this.#read();
  }

  get level(): StorageLevel {
    const share = this.#reserveShare();
    return share >= 1 ? "ok" : share >= 0.5 ? "tight" : "full";
  }

  /**
   * How much of the reserve is free, with so many bytes more on disk; above 1 nobody has touched
   * it.
   */
  #reserveShare(bytes = 0): number {
    const { availableBytes, capacityBytes } = this.size;
    return (availableBytes - bytes) / Math.min(reserveBytes, smallDiskPart * capacityBytes);
  }

  /**
   * Throws `Refusal` for data that stays on disk for long. Recently taken bytes count even if they
   * may be on disk already: large entries at once must not use up the reserve, which is for
   * messages and removals, before the disk is measured again.
   */
  refuseGrowth(bytes = 0): void {
    const share = this.#reserveShare(); // Asks the disk first, if it is time.
    const taken = this.#taken + this.#takenBefore;
    if (share < 1 || this.#reserveShare(taken) < 1 || this.#reserveShare(taken + bytes) < 0.5) {
      throw new DiskRefusal(
        "The relay's disk is nearly full: new channels, members and invites must wait",
      );
    }
    this.#taken += bytes;
  }

  /** Throws `Refusal` for a change of keys that adds nobody. */
  refuseChange(): void {
    if (this.level === "full") {
      throw new DiskRefusal("The relay's disk is nearly full: only removals are taken");
    }
  }

  /**
   * Throws `Refusal` for a removal: the last quarter of the reserve is for leaving, acknowledging
   * and closing.
   */
  refuseRemoval(): void {
    if (this.#reserveShare() < 0.25) {
      throw new DiskRefusal("The relay's disk is full: members can only read, leave and close");
    }
  }

  /** Why a message cannot be taken, unless its readers are about to make room for it. */
  messageRefusal(queueBytes: number): Refusal | undefined {
    const { level } = this;
    if (level === "ok" || (level === "tight" && queueBytes <= readQueueBytes)) return undefined;
    return new DiskRefusal(
      "The relay's disk is nearly full: messages must wait until members have read others",
    );
  }
}
