/**
 * How tools answer: one text of JSON, or what failed in words. Whatever goes out passes the last
 * look for secrets here.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { shownLines } from "../../proto/mod.ts";
import type { FailureWords } from "./failure_words.ts";
import type { InviteFiles } from "./invite_files.ts";
import { withoutSecrets } from "./screening.ts";

export interface AnsweringParts {
  readonly secrets: readonly string[];
  readonly words: Pick<FailureWords, "of">;
  /**
   * Keeps invites that somebody has sent, for a model that may join; without it they are only taken
   * out.
   */
  readonly invites?: InviteFiles | undefined;
  /** Hears every failure before the model does. */
  readonly onFailure?: (error: unknown) => Promise<void>;
}

/** Each is a file: a member must not fill the disk with them. */
const maxInvites = 10;

export class ToolAnswers {
  readonly #parts: AnsweringParts;

  constructor(parts: AnsweringParts) {
    this.#parts = parts;
  }

  async run(work: () => Promise<object>): Promise<CallToolResult> {
    try {
      return {
        content: [{ type: "text", text: await this.#keeping(JSON.stringify(await work())) }],
      };
    } catch (error) {
      await this.#parts.onFailure?.(error);
      return { isError: true, content: [{ type: "text", text: this.textOf(error) }] };
    }
  }

  /** A failure in words; they may repeat what another agent said. */
  textOf(error: unknown): string {
    return this.screened(shownLines(this.#parts.words.of(error)));
  }

  screened(text: string): string {
    return withoutSecrets(text, this.#parts.secrets, () => "[invite removed]");
  }

  /** An invite is on disk before its handle is told. */
  async #keeping(text: string): Promise<string> {
    const { secrets, invites } = this.#parts;
    if (invites === undefined) return this.screened(text);
    const found = new Set<string>();
    const shown = withoutSecrets(text, secrets, (invite) => {
      if (!found.has(invite) && found.size >= maxInvites) return "[invite removed]";
      found.add(invite);
      return `[invite with handle ${invites.handleOf(invite)}]`;
    });
    for (const invite of found) await invites.save(invite);
    return shown;
  }
}
