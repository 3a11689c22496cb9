/**
 * Messages that wait for a person, as files for their owner alone; released ones go to the next
 * session that waits.
 */
import type { Trust } from "../../proto/mod.ts";
import { decodeBase64, encodeBase64 } from "../texts/channel_texts.ts";
import type { UserFiles } from "../platform/platform.ts";
import type { GivenMessage } from "./feed.ts";
import type { ShownMessage, ShownSender } from "./message_view.ts";

export interface HeldMessage {
  readonly channel: string;
  readonly message: ShownMessage;
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
  readonly #files: UserFiles;
  readonly #held: string;
  readonly #released: string;
  readonly #dropped: string;

  constructor(files: UserFiles, folder: string) {
    this.#files = files;
    this.#held = files.join(folder, "held");
    this.#released = files.join(folder, "released");
    this.#dropped = files.join(folder, "dropped");
  }

  /** The first of an id stays: a person may have looked at it. */
  async hold(channel: string, message: ShownMessage): Promise<void> {
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
    await this.#files.remove(this.#files.join(this.#held, `${id}.json`));
    return true;
  }

  /** The same. A sender that wants to know is told by the next session. */
  async drop(id: string): Promise<boolean> {
    const path = this.#files.join(this.#held, `${id}.json`);
    const text = idForm.test(id) ? await this.#files.read(path) : undefined;
    if (text === undefined) return false;
    const { channel, message } = decode(text);
    if (message.receipt !== undefined) {
      const empty = encode({ channel, message: { ...message, bytes: new Uint8Array(0) } });
      await this.#files.writePrivate(this.#files.join(this.#dropped, `${id}.json`), empty);
    }
    await this.#files.remove(path);
    return true;
  }

  /** Returns messages that a person dropped, and whose senders were not told. */
  async dropped(): Promise<HeldMessage[]> {
    return await this.#read(this.#dropped);
  }

  async toldDropped(message: ShownMessage): Promise<void> {
    await this.#files.remove(this.#files.join(this.#dropped, `${heldId(message)}.json`));
  }

  /**
   * For a session, with its senders as the user knows them by now; it is gone when the session is
   * done with it.
   */
  async released(trust: () => Promise<Trust>, nowMs: number): Promise<GivenMessage[]> {
    const messages = await this.#read(this.#released);
    if (messages.length === 0) return [];
    const known = await trust();
    return messages.map(({ channel, message }) => ({
      channel,
      message: {
        ...message,
        sender: recognisedNow(message.sender, known, nowMs),
      },
      ack: () => this.#files.remove(this.#files.join(this.#released, `${heldId(message)}.json`)),
      // The message's file is still there.
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

/**
 * A sender of before, as the user knows it now. A domain that is believed no more attests nothing,
 * and a badge may have ended.
 */
export function recognisedNow(
  { attested, badgeExpired, ...sender }: ShownSender,
  { names, domains, mailDomains }: Trust,
  nowMs: number,
): ShownSender {
  const word = attested ?? badgeExpired;
  const isBelieved = word !== undefined &&
    (word.how === "domain" ? domains.has(word.domain) : mailDomains.has(word.domain));
  const isOver = word !== undefined && nowMs > word.untilMs;
  return {
    ...sender,
    knownAs: names.get(sender.agentId),
    ...(isBelieved && (isOver ? { badgeExpired: word } : { attested: word })),
  };
}

/** The name of a held message for a person. */
export function heldId({ id, sender }: ShownMessage): string {
  return `${sender.agentId}.${id}`;
}

function encode({ channel, message }: HeldMessage): string {
  const {
    id,
    sender: { agentId, identity, keyUnchanged, attested, badgeExpired, sameAccount },
    timeMs,
    bytes,
    contentType,
    to,
    replyTo,
    conversation,
    receipt,
  } = message;
  const said = {
    id,
    sender: { agentId, identity, keyUnchanged, attested, badgeExpired, sameAccount },
    timeMs,
    contentType,
    to,
    replyTo,
    conversation,
    receipt,
  };
  return `${JSON.stringify({ channel, message: { ...said, base64: encodeBase64(bytes) } })}\n`;
}

function decode(text: string): HeldMessage {
  const { channel, message: { base64, ...message } } = JSON.parse(text);
  return { channel, message: { ...message, bytes: decodeBase64(base64) } };
}
