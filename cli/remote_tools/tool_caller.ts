/** Calls of the tools of one member of a channel: each is a request, and can be cancelled. */
import { agentForModel, type AgentId, encodeBase64url } from "../../proto/mod.ts";
import type { Channel, Envelope } from "../../sdk/mod.ts";
import { seenText } from "../mcp/screening.ts";
import { refused } from "../mcp/refusal.ts";
import type { AcceptedTool } from "./accepted_tools.ts";
import {
  contentType,
  errorCodes,
  isRecord,
  parseAnswer,
  type ProgramAnswer,
  RpcFault,
  versionField,
} from "./wire.ts";

export interface ToolCallerParts {
  readonly channel: () => Promise<Channel>;
  readonly agentId: AgentId;
  readonly timeoutMs: number;
  readonly randomBytes: (length: number) => Uint8Array;
}

/** A model's context has an end. */
const maxText = 64 * 1024;
const maxErrorText = 1024;
const conversationBytes = 16;
/** The time for the agent to hear that nobody waits any more. */
const cancelMs = 60_000;

export class ToolCaller {
  readonly #parts: ToolCallerParts;
  /** Requests without an answer so far; cancellations, too. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(parts: ToolCallerParts) {
    this.#parts = parts;
  }

  async list(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { answer } = await this.#noting(this.#ask("tools/list", {}, signal));
    if (!answer.ok) throw refused(`The agent does not tell its tools: ${errorWords(answer)}`);
    return answer.result;
  }

  /** Resolves when nothing is under way, cancellations neither; or by the signal. */
  async end(signal: AbortSignal): Promise<void> {
    const over = new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => resolve(), { once: true })
    );
    while (this.#underWay.size > 0 && !signal.aborted) {
      await Promise.race([Promise.allSettled(this.#underWay), over]);
    }
  }

  /** Returns what a model is shown. Throws `ToolRefusal` in words for it. */
  async call(
    { name, version }: AcceptedTool,
    given: Readonly<Record<string, unknown>>,
    { signal, hideNames }: { readonly signal: AbortSignal; readonly hideNames: boolean },
  ): Promise<{ readonly shown: object; readonly isError: boolean }> {
    const meta = version === undefined ? {} : { _meta: { [versionField]: version } };
    const params = { name, arguments: given, ...meta };
    const { reply, answer } = await this.#noting(this.#ask("tools/call", params, signal));
    if (!answer.ok) throw refused(errorWords(answer));
    const from = { agent_id: reply.sender.agentId, ...agentForModel(reply.sender, { hideNames }) };
    return {
      shown: { from, ...contentOf(answer.result) },
      isError: answer.result["isError"] === true,
    };
  }

  async #noting<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async #ask(
    method: string,
    params: object,
    signal: AbortSignal,
  ): Promise<{ readonly reply: Envelope; readonly answer: ProgramAnswer }> {
    const { agentId: to, timeoutMs, randomBytes } = this.#parts;
    const channel = await this.#parts.channel();
    const conversation = encodeBase64url(randomBytes(conversationBytes));
    const about = { to, contentType, conversation };
    try {
      const body = requestText(method, params);
      const reply = await channel.request(body, { ...about, timeoutMs, signal });
      return { reply, answer: parseAnswer(reply.text()) };
    } catch (error) {
      if (signal.aborted) {
        const cancel = requestText("notifications/cancelled", {});
        void this.#noting(channel.request(cancel, { ...about, timeoutMs: cancelMs })).catch(
          () => {},
        );
      }
      if (error instanceof RpcFault) throw refused("The agent's reply is no response of MCP");
      throw error;
    }
  }
}

function requestText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

function errorWords({ code, message }: Extract<ProgramAnswer, { ok: false }>): string {
  if (code === errorCodes.changed) {
    return "The tool has changed. Your user must look at it again, with mcp connect --accept";
  }
  return `The agent says: ${seenText(message.slice(0, maxErrorText)).text}`;
}

/** Returns the texts of a result, as data. Pictures and the like are named and left out. */
function contentOf({ content }: Readonly<Record<string, unknown>>): object {
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  const texts = parts.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : []
  );
  const whole = texts.join("\n");
  const seen = seenText(whole.slice(0, maxText));
  const text = seen.text.slice(0, maxText);
  const isCut = whole.length > maxText || seen.text.length > maxText;
  const others = parts.length - texts.length;
  return {
    text,
    ...(isCut && { cut_from_characters: whole.length }),
    ...(seen.escaped > 0 && { invisible_characters_escaped: seen.escaped }),
    ...(others > 0 && { parts_that_are_no_text_left_out: others }),
  };
}
