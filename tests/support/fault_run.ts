/**
 * A campaign of faults that may be interrupted. Every fault is a line of its file, if it has one;
 * only those count that an audit came after. A campaign that was interrupted does what is missing.
 * One that failed does not go on: its file says why, and faults that came out well afterwards would
 * hide it. Give each test a file of its own.
 */

/** Faults between two audits. */
export const auditEvery = 50;

export type Recoveries = Readonly<Record<string, readonly number[]>>;

export interface FaultRunOptions {
  /** So many faults make it complete. */
  readonly wanted: number;
  readonly path?: string | undefined;
}

/** A line of the file. Lines have more, for readers. */
interface Line {
  /** A fault, and how long it took until everybody was served again. */
  readonly kind?: string;
  readonly recoveryMs?: number;
  /**
   * Of an audit: so many faults were before it, with these recovery times in milliseconds, by the
   * names of the faults.
   */
  readonly audited?: number;
  readonly recoveries?: Recoveries;
  readonly failed?: string;
}

export class FaultRun {
  readonly wanted: number;
  readonly #path: string | undefined;
  /** Of this process, where there is no file. */
  readonly #told: Line[] = [];

  constructor({ wanted, path }: FaultRunOptions) {
    this.wanted = wanted;
    this.#path = path;
  }

  /** `STATIC_CAMPAIGN_FILE` is the file. */
  static fromEnvironment(wanted: number): FaultRun {
    return new FaultRun({ wanted, path: Deno.env.get("STATIC_CAMPAIGN_FILE") });
  }

  /** Wanted faults that no audit has come after. Throws when the campaign has failed. */
  async missing(): Promise<number> {
    const lines = await this.#read();
    return Math.max(0, this.wanted - lines.reduce((sum, { audited = 0 }) => sum + audited, 0));
  }

  /** Throws when wanted faults are missing, or the campaign has failed. */
  async assertComplete(): Promise<void> {
    const missing = await this.missing();
    if (missing === 0) return;
    const next = this.#path === undefined ? "give it more time" : "run it again with the same file";
    throw new Error(
      `The campaign is incomplete: ${missing} of ${this.wanted} faults are missing; ${next}`,
    );
  }

  /** Of all faults that an audit came after. */
  async recoveries(): Promise<Recoveries> {
    const all: Record<string, readonly number[]> = {};
    for (const { recoveries = {} } of await this.#read()) {
      for (const [name, times] of Object.entries(recoveries)) {
        all[name] = [...all[name] ?? [], ...times];
      }
    }
    return all;
  }

  /** Of all faults, also of those that no audit came after. */
  async slowest(): Promise<{ readonly kind: string; readonly ms: number }> {
    const times = (await this.#read()).map(({ kind = "none", recoveryMs: ms = 0 }) => ({
      kind,
      ms,
    }));
    return times.toSorted((one, other) => other.ms - one.ms)[0] ?? { kind: "none", ms: 0 };
  }

  async tell(what: Line & Readonly<Record<string, unknown>>): Promise<void> {
    const line = JSON.stringify({ time: new Date().toISOString(), ...what });
    console.log(line);
    this.#told.push(what);
    if (this.#path !== undefined) {
      await Deno.writeTextFile(this.#path, `${line}\n`, { append: true });
    }
  }

  /** A part of the campaign. Its failure is a line of the file, and ends the campaign for good. */
  async attempt<T>(part: () => Promise<T>): Promise<T> {
    try {
      return await part();
    } catch (error) {
      await this.tell({ failed: Deno.inspect(error) });
      throw error;
    }
  }

  async #read(): Promise<readonly Line[]> {
    const lines = this.#path === undefined ? this.#told : await readLines(this.#path);
    const failure = lines.find(({ failed }) => failed !== undefined);
    if (failure === undefined) return lines;
    const place = this.#path === undefined ? "" : ` (${this.#path})`;
    throw new Error(`The campaign has failed${place}, begin a new one: ${failure.failed}`);
  }
}

/**
 * Throws when there is none: a fault that does not happen would count as one that nobody noticed.
 */
export function faultNamed<T>(all: Readonly<Record<string, T>>, kind: string): T {
  const fault = all[kind];
  if (fault === undefined) {
    throw new RangeError(`There is no fault "${kind}". There are: ${Object.keys(all).join(", ")}`);
  }
  return fault;
}

async function readLines(path: string): Promise<Line[]> {
  const text = await Deno.readTextFile(path).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}
