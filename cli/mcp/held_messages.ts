/**
 * Messages that wait for a person, as files for their owner alone; released ones go to the next
 * session that waits.
 */
import { decodeBase64, encodeBase64 } from "../texts/channel_texts.ts";
import type { Files } from "../platform/platform.ts";
import type { Given } from "./feed.ts";
import type { Said } from "./message_view.ts";

export interface HeldMessage {
  readonly channel: string;
  readonly message: Said;
}

/**
 * Sender and message: senders choose the ids of their messages, so the id alone could replace
 * another sender's message.
 */
const idForm = /^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{22}$/;
/**
 * Beyond these, what would be held is dropped: a sender that nobody has allowed must not fill the
 * disk.
 */
const [maxHeld, maxHeldOfOne] = [1000, 100];

export class HeldMessages {
  readonly #files: Files;
  readonly #held: string;
  readonly #released: string;

  constructor(files: Files, folder: string) {
    this.#files = files;
    this.#held = files.join(folder, "held");
    this.#released = files.join(folder, "released");
  }

  /** The first of an id stays: a person may have looked at it. */
  async hold(channel: string, message: Said): Promise<void> {
    const names = await this.#files.list(this.#held);
    const name = `${heldId(message)}.json`;
    const ofOne = names.filter((each) => each.startsWith(`${message.sender.agentId}.`)).length;
    if (names.includes(name) || names.length >= maxHeld || ofOne >= maxHeldOfOne) return;
    await this.#files.writePrivate(
      this.#files.join(this.#held, name),
      encode({ channel, message }),
    );
  }

  async list(): Promise<HeldMessage[]> {
    return await this.#read(this.#held);
  }

  async count(): Promise<number> {
    return (await this.#files.list(this.#held)).length;
  }

  /** False when there is none of this id. */
  async release(id: string): Promise<boolean> {
    const text = idForm.test(id)
      ? await this.#files.read(this.#files.join(this.#held, `${id}.json`))
      : undefined;
    if (text === undefined) return false;
    await this.#files.writePrivate(this.#files.join(this.#released, `${id}.json`), text);
    return await this.drop(id);
  }

  /** The same. */
  async drop(id: string): Promise<boolean> {
    const path = this.#files.join(this.#held, `${id}.json`);
    if (!idForm.test(id) || await this.#files.read(path) === undefined) return false;
    await this.#files.remove(path);
    return true;
  }

  /**
   * For a session, under the names that its senders have by now; it is gone when the session is
   * done with it.
   */
  async released(names: () => Promise<ReadonlyMap<string, string>>): Promise<Given[]> {
    const messages = await this.#read(this.#released);
    if (messages.length === 0) return [];
    const known = await names();
    return messages.map(({ channel, message }) => ({
      channel,
      message: {
        ...message,
        sender: { ...message.sender, knownAs: known.get(message.sender.agentId) },
      },
      ack: () => this.#files.remove(this.#files.join(this.#released, `${heldId(message)}.json`)),
      // Its file is still there.
      back: () => {},
    }));
  }

  async #read(folder: string): Promise<HeldMessage[]> {
    const found: HeldMessage[] = [];
    for (const name of await this.#files.list(folder)) {
      const text = await this.#files.read(this.#files.join(folder, name));
      if (text !== undefined) found.push(decode(text));
    }
    return found.toSorted((one, other) => one.message.timeMs - other.message.timeMs);
  }
}

/** The name of a held message for a person. */
export function heldId({ id, sender }: Said): string {
  return `${sender.agentId}.${id}`;
}

function encode({ channel, message }: HeldMessage): string {
  const {
    id,
    sender: { agentId, identity, keyUnchanged },
    timeMs,
    bytes,
    contentType,
    to,
    replyTo,
    conversation,
  } = message;
  const said = {
    id,
    sender: { agentId, identity, keyUnchanged },
    timeMs,
    contentType,
    to,
    replyTo,
    conversation,
  };
  return `${JSON.stringify({ channel, message: { ...said, base64: encodeBase64(bytes) } })}\n`;
}

function decode(text: string): HeldMessage {
  const { channel, message: { base64, ...message } } = JSON.parse(text);
  return { channel, message: { ...message, bytes: decodeBase64(base64) } };
}
