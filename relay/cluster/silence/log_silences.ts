/**
 * The silence of a relay's two logs, each for itself. Without the log on the nodes' disks a relay
 * is of no use. Without the one in their memory no session begins, and sessions that run go on: no
 * relay ends for it, and no agent is sent away.
 */
import type { Log } from "../../../server/mod.ts";
import { type Nodes, ProbeError } from "../nodes/nodes.ts";
import { logNames } from "../log/shared_log.ts";
import type { SilenceLimits } from "./silence.ts";
import { type LastResort, type SilenceReading, SilenceWatch } from "./silence_watch.ts";

export interface LogSilencesOptions extends Omit<LastResort, "probe"> {
  readonly nodes: Pick<Nodes, "renew" | "probe">;
  readonly prefix: string;
  readonly silenceLimits?: Partial<SilenceLimits>;
  readonly nowMs: () => number;
  readonly log: Log;
  /** The entry that has waited longest for the log on disk. */
  readonly oldest: () => Uint8Array | undefined;
}

export class LogSilences {
  readonly #disk: SilenceWatch;
  readonly #memory: SilenceWatch;

  constructor(options: LogSilencesOptions) {
    const { nodes, prefix, oldest } = options;
    const renew = (): Promise<void> => nodes.renew();
    const probe = async (): Promise<void> => {
      const entry = oldest();
      if (entry === undefined) throw new ProbeError("this relay has nothing under way");
      // Sent again, over another connection: an entry may come twice.
      await nodes.probe(logNames(prefix), entry);
    };
    this.#disk = new SilenceWatch({
      ...options,
      what: "The shared log",
      renew,
      lastResort: { ...options, probe },
    });
    this.#memory = new SilenceWatch({ ...options, what: "The relays' shared memory", renew });
  }

  /** Words for what is wrong with the log on disk; undefined while it answers. */
  get problem(): string | undefined {
    return this.#disk.words;
  }

  /** The same for the log in memory. */
  get memoryProblem(): string | undefined {
    return this.#memory.words;
  }

  /** Clients that took the place of a silent one. */
  get clients(): number {
    return this.#disk.clients + this.#memory.clients;
  }

  /** To be called about every second. */
  look({ disk, memory }: { readonly disk: SilenceReading; readonly memory: SilenceReading }): void {
    this.#disk.look(disk);
    // When both are silent, the client or its node is deaf, and is left once and not twice.
    const waitingMs = this.#disk.isSilent ? 0 : memory.waitingMs;
    this.#memory.look({ waitingMs, refusal: memory.refusal });
  }
}
