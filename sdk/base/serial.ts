/** One thing after the other: each task begins when the one before has ended, however that was. */

export class Serial {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T> | T): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.catch(() => {});
    return result;
  }

  /** Resolves when everything that was given so far has ended. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}
