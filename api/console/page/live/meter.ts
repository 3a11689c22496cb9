/**
 * The privacy meter: counts the cells of this tab's connection by the SDK's tap, and reads from
 * them what the relay can read. Which cells are cover is known here and at the relay; on the wire,
 * inside TLS, all look alike.
 */
import {
  CellReader,
  type ClientEnvelope,
  decodeClientEnvelope,
  limits,
} from "../../../../proto/mod.ts";

export type Direction = "sent" | "received";

/** Cells since the agent was started. */
export interface Counts {
  readonly real: number;
  readonly cover: number;
}

/** Cells a second, over the last seconds. */
export interface CellRates {
  readonly sent: Counts;
  readonly received: Counts;
}

/** A request as the relay sees it. */
export interface MeteredRequest {
  readonly number: number;
  readonly text: string;
  /** The end of the ciphertext, in hexadecimal. */
  readonly bytes: string;
}

const windowSamples = 10;
const maxSights = 50;
const shownBytes = 12;
const readerLimits = { cellBytes: limits.cellBytes, maxEnvelopeBytes: limits.envelopeBytes };

interface MeterSample {
  readonly atMs: number;
  readonly sent: Counts;
  readonly received: Counts;
}

export class PrivacyMeter {
  readonly #counted = { sent: new DirectionCount(), received: new DirectionCount() };
  readonly #samples: MeterSample[] = [];
  #sights: readonly MeteredRequest[] = [];
  #seen = 0;

  readonly tap = (cells: Uint8Array, cellBytes: number, direction: Direction): void => {
    this.#counted[direction].read(cells, cellBytes, (bytes) => {
      if (direction === "sent") this.#see(bytes);
    });
  };

  /** A new connection begins with a whole cell. */
  restart(): void {
    for (const each of Object.values(this.#counted)) each.restart();
  }

  totals(direction: Direction): Counts {
    return this.#counted[direction].counts;
  }

  /** The newest first. */
  get sights(): readonly MeteredRequest[] {
    return this.#sights;
  }

  /** Called about once a second. */
  sample(atMs: number): CellRates {
    const now = { atMs, sent: this.totals("sent"), received: this.totals("received") };
    this.#samples.push(now);
    if (this.#samples.length > windowSamples) this.#samples.shift();
    const first = this.#samples[0] ?? now;
    const seconds = Math.max(0.001, (atMs - first.atMs) / 1000);
    const rate = (direction: Direction): Counts => ({
      real: (now[direction].real - first[direction].real) / seconds,
      cover: (now[direction].cover - first[direction].cover) / seconds,
    });
    return { sent: rate("sent"), received: rate("received") };
  }

  #see(bytes: Uint8Array): void {
    const sight = describe(decodeClientEnvelope(bytes));
    if (sight === undefined) return;
    this.#sights = [{ ...sight, number: ++this.#seen }, ...this.#sights].slice(0, maxSights);
  }
}

/** One direction, over all connections. */
class DirectionCount {
  #reader = new CellReader(readerLimits);
  #before: Counts = { real: 0, cover: 0 };

  get counts(): Counts {
    const { cells, coverCells } = this.#reader.counts;
    return { real: this.#before.real + cells - coverCells, cover: this.#before.cover + coverCells };
  }

  restart(): void {
    this.#before = this.counts;
    this.#reader = new CellReader(readerLimits);
  }

  read(cells: Uint8Array, cellBytes: number, onEnvelope: (bytes: Uint8Array) => void): void {
    try {
      this.#reader.configure({ ...readerLimits, cellBytes });
      this.#reader.read(cells, onEnvelope);
    } catch {
      this.restart(); // a peer that breaks the protocol is the SDK's business; counting goes on
    }
  }
}

function describe({ operation, body }: ClientEnvelope): Omit<MeteredRequest, "number"> | undefined {
  switch (operation) {
    case "CreateChannel":
      return { text: `CreateChannel ${body.name}`, bytes: "" };
    case "SendCommit":
      return {
        text:
          `SendCommit: ${body.added.length} in, ${body.removed.length} out, ${body.commit.length} bytes`,
        bytes: endOf(body.commit),
      };
    case "SendMessage":
      return {
        text: `SendMessage: epoch ${body.epoch}, ${body.ciphertext.length} bytes`,
        bytes: endOf(body.ciphertext),
      };
    case "LeaveChannel":
    case "CloseChannel":
    case "RegisterInvite":
    case "RequestJoin":
      return { text: operation, bytes: "" };
    default:
      return undefined;
  }
}

/** The beginning of an MLS message is its header, which is the same for all. */
function endOf(bytes: Uint8Array): string {
  return Array.from(bytes.subarray(-shownBytes), (byte) => byte.toString(16).padStart(2, "0")).join(
    " ",
  );
}

export interface CoverChoice {
  readonly profile: "off" | "standard" | "strong";
  readonly text: string;
  /** Mean or tick; 0 for none. */
  readonly intervalMs: number;
}

export const coverChoices: readonly CoverChoice[] = [
  { profile: "off", text: "Off: the times of messages show", intervalMs: 0 },
  { profile: "standard", text: "Standard: a cell every 10 s", intervalMs: 10_000 },
  { profile: "strong", text: "Strong: one cell every 250 ms, always", intervalMs: 250 },
];

/** Both directions, cells alone: what TLS and QUIC add is left out. */
export function megabytesADay({ intervalMs }: CoverChoice): number {
  return intervalMs === 0 ? 0 : 2 * (86_400_000 / intervalMs) * limits.cellBytes / 1e6;
}
