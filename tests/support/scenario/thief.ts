/**
 * A thief that copied an agent's directory once, and from then on reads what passes on the wire.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import { type Agent, atOnce, DurableGroup, type RecordStore } from "../../../sdk/testing/agents.ts";

export class Thief {
  readonly heard: string[] = [];
  readonly #durable: DurableGroup;
  /** It met a commit of its victim, which it cannot follow. */
  isOut = false;

  private constructor(durable: DurableGroup) {
    this.#durable = durable;
  }

  /**
   * `stolen` is the copy; of the victim itself the thief uses nothing that the copy does not hold.
   */
  static async of(stolen: RecordStore, victim: Agent, channelId: ChannelId): Promise<Thief> {
    const { identity, signatures, runtime } = victim.parts;
    const loaded = await DurableGroup.load(channelId, stolen, {
      identity,
      signatures,
      randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      policy: () => undefined,
      findPsk: () => undefined,
      clocksMs: () => [runtime.nowMs()],
      carryOut: atOnce,
      padding: () => 0,
    });
    if (loaded === undefined) throw new Error("The copy holds no such channel");
    return new Thief(loaded.durable);
  }

  get epoch(): number {
    return this.#durable.group.epoch;
  }

  /** Traffic on the wire, the victim's own commits included. */
  async read(bytes: Uint8Array): Promise<void> {
    const { outcome } = await this.#durable.receive(bytes, () => undefined);
    if (outcome.kind === "message") {
      this.heard.push(new TextDecoder().decode(outcome.payload).replace(/^[^ -~]+/, ""));
    }
    if (outcome.kind === "own") this.isOut = true;
  }
}
