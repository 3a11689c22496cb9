/** Work that no request waits for. A fault in it is logged and harms nothing else. */
import type { CoreDeps } from "./deps.ts";

export class BackgroundWork {
  readonly #deps: Pick<CoreDeps, "log">;
  readonly #running = new Set<Promise<void>>();

  constructor(deps: Pick<CoreDeps, "log">) {
    this.#deps = deps;
  }

  run(where: string, work: () => Promise<void>): void {
    const running: Promise<void> = work()
      .catch((error: unknown) => this.#fault(where, error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** One after the other; one that fails does not keep the rest from it. */
  async each<Item>(
    where: string,
    items: readonly Item[],
    work: (item: Item) => Promise<void>,
  ): Promise<void> {
    for (const item of items) await work(item).catch((error: unknown) => this.#fault(where, error));
  }

  /** Resolves when everything that runs now is done. */
  async done(): Promise<void> {
    await Promise.all(this.#running);
  }

  #fault(where: string, error: unknown): void {
    this.#deps.log({ event: "fault", where, error });
  }
}
