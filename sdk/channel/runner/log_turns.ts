/**
 * Reading a notice, entering a membership or a generation, and a connection from its `Subscribe` to
 * its judgement: each is more than one step, and nothing of another comes in between.
 */

export class LogTurns {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  /** `begin` is called when it is its turn, which lasts until `end`. */
  take(begin: () => void): void {
    if (this.#isTaken) return void this.#waiting.push(begin);
    this.#isTaken = true;
    begin();
  }

  end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }
}
