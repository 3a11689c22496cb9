/**
 * A password or key on its way through the program: printing it or encoding it as JSON shows a
 * placeholder.
 */

const placeholder = "[secret]";

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The one way to the text; a reader of the code can search for it. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return placeholder;
  }

  toJSON(): string {
    return placeholder;
  }

  [Symbol.for("Deno.customInspect")](): string {
    return placeholder;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return placeholder;
  }
}
