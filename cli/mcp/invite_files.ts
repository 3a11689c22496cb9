/**
 * Invites that a model may use without seeing them: each is a file for its owner alone, and has a
 * handle.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { UserFiles } from "../platform/platform.ts";
import { refused } from "./refusal.ts";
import { isInvite } from "./screening.ts";
import { encodeHex } from "../texts/channel_texts.ts";

const handleForm = /^invite-[0-9a-f]{32}$/;
/** Enough that nobody finds another invite of the same handle. */
const handleBytes = 16;

export class InviteFiles {
  readonly #files: UserFiles;
  readonly #folder: string;

  constructor(files: UserFiles, folder: string) {
    this.#files = files;
    this.#folder = files.join(folder, "invites");
  }

  /** The same for the same invite; tells nothing about it. */
  handleOf(invite: string): string {
    return `invite-${encodeHex(sha256(utf8ToBytes(invite)).subarray(0, handleBytes))}`;
  }

  /** Returns where it is, for a person. */
  async save(invite: string): Promise<string> {
    const path = this.#pathOf(this.handleOf(invite));
    await this.#files.writePrivate(path, `${invite}\n`);
    return path;
  }

  /** Undefined when there is none of this handle. */
  async read(handle: string): Promise<string | undefined> {
    return handleForm.test(handle)
      ? (await this.#files.read(this.#pathOf(handle)))?.trim()
      : undefined;
  }

  /**
   * Takes an invite from a file that a person has named; it is kept like others. Throws when there
   * is none in the file, and never says what is in it.
   */
  async take(path: string): Promise<string> {
    const text = (await this.#files.read(this.#files.absolute(path)).catch(() => undefined))
      ?.trim();
    if (text === undefined || !isInvite(text)) {
      throw refused("There is no invite in the file that your user named");
    }
    await this.save(text);
    return text;
  }

  #pathOf(handle: string): string {
    return this.#files.join(this.#folder, handle);
  }
}
