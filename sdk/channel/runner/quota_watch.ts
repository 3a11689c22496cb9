/**
 * Tells those who listen to a client's events when the plan's messages of this month are used to 80
 * %, and when they are used up. The API is asked once at the beginning and then every ten minutes,
 * and only while somebody listens.
 */
import type { Usage } from "../../../proto/mod.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { QuotaEvent } from "../events.ts";

export interface QuotaWatchDeps {
  readonly runtime: Pick<Runtime, "after">;
  /** Undefined when the API cannot say it now. */
  readonly usage: () => Promise<Usage | undefined>;
  readonly tell: (event: QuotaEvent) => void;
  /** Nobody is there any more. */
  readonly isOver: () => boolean;
}

const everyMs = 10 * 60 * 1000;
const levels = [0.8, 1] as const;

export class QuotaWatch {
  readonly #deps: QuotaWatchDeps;
  /** The highest level that was told, and of which period. */
  #told = { level: 0, startMs: 0 };

  constructor(deps: QuotaWatchDeps) {
    this.#deps = deps;
    this.#look();
  }

  #look(): void {
    const { usage, isOver, runtime } = this.#deps;
    if (isOver()) return;
    void usage().then((found) => {
      if (isOver()) return;
      if (found !== undefined) this.#note(found);
      runtime.after(everyMs, () => this.#look());
    });
  }

  #note({ messages: { used, limit }, period: { startMs } }: Usage): void {
    if (limit === null) return;
    if (startMs !== this.#told.startMs) this.#told = { level: 0, startMs };
    const level = Math.max(0, ...levels.filter((each) => used >= each * limit));
    if (level > this.#told.level) this.#deps.tell({ type: "quota", used, limit });
    this.#told = { level: Math.max(level, this.#told.level), startMs };
  }
}
