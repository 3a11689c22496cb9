/**
 * The messages that a session was given and has not come back for. They come again to the next
 * session, which may have handled them or not; a note on disk lets it say so. It is a hint: a note
 * that is lost costs nothing but the hint.
 */
import type { UserFiles } from "../platform/platform.ts";
import type { GivenMessage } from "./feed.ts";

/** More than one session can have at a time. */
const maxNotes = 200;

export class GivenNotes {
  readonly #files: UserFiles;
  readonly #path: string;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(files: UserFiles, folder: string, reader: string) {
    this.#files = files;
    this.#path = files.join(folder, `given-${reader}.json`);
  }

  /** Notes them. Returns those that were noted before. */
  async give(items: readonly GivenMessage[]): Promise<ReadonlySet<GivenMessage>> {
    const messages = items.filter(isMessage);
    if (messages.length === 0) return new Set();
    return await this.#inTurn(async () => {
      const noted = await this.#read();
      await this.#write([...new Set([...noted, ...messages.map(keyOf)])].slice(-maxNotes));
      return new Set(messages.filter((each) => noted.includes(keyOf(each))));
    });
  }

  async forget(items: readonly GivenMessage[]): Promise<void> {
    const gone = new Set(items.filter(isMessage).map(keyOf));
    if (gone.size === 0) return;
    await this.#inTurn(async () =>
      await this.#write((await this.#read()).filter((each) => !gone.has(each)))
    );
  }

  /** Each call reads what the one before it has written. None of them rejects. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(act);
    this.#turn = done;
    return done;
  }

  async #read(): Promise<string[]> {
    try {
      const noted: unknown = JSON.parse(await this.#files.read(this.#path) ?? "[]");
      return Array.isArray(noted) ? noted.filter((each) => typeof each === "string") : [];
    } catch {
      return [];
    }
  }

  async #write(noted: readonly string[]): Promise<void> {
    await this.#files.writePrivate(this.#path, `${JSON.stringify(noted)}\n`).catch(() => {});
  }
}

/** Requests need no notes: the agent itself counts their attempts. */
function isMessage({ request }: GivenMessage): boolean {
  return request === undefined;
}

/** Senders choose the ids of their messages. */
function keyOf({ channel, message: { id, sender } }: GivenMessage): string {
  return `${channel} ${sender.agentId} ${id}`;
}
