/** How tools answer: one text of JSON, or what failed in words. Whatever goes out passes the last look for secrets here. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { failureText } from "./agent_link.ts";
import { seenText, withoutSecrets } from "./screening.ts";

export interface AnsweringParts {
  readonly secrets: readonly string[];
  /** What stands for an invite that somebody has sent. */
  readonly onInvite: (token: string) => string;
}

export class Answering {
  readonly #parts: AnsweringParts;

  constructor(parts: AnsweringParts) {
    this.#parts = parts;
  }

  async run(work: () => Promise<object>): Promise<CallToolResult> {
    try {
      return { content: [{ type: "text", text: this.screened(JSON.stringify(await work())) }] };
    } catch (error) {
      return { isError: true, content: [{ type: "text", text: this.textOf(error) }] };
    }
  }

  /** A failure in words; they may repeat what another agent said. */
  textOf(error: unknown): string {
    return this.screened(seenText(failureText(error)).text);
  }

  screened(text: string): string {
    const { secrets, onInvite } = this.#parts;
    return withoutSecrets(text, secrets, onInvite);
  }
}

/** The call is wrong. */
export function refused(text: string): Error {
  return Object.assign(new Error(text), { code: "invalid_request" });
}
