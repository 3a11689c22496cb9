/** Carries out what the desk says: requests of a channel become calls of processes of a program. */
import { agentInWords, shown, version } from "../../proto/mod.ts";
import { type IncomingRequest, RemoteError } from "../../sdk/mod.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Context } from "../command.ts";
import type { ChildProgram } from "../platform/child_program.ts";
import {
  type CallRefusal,
  type DeskAnswer,
  type DeskEffect,
  type DeskEvent,
  type DeskLimits,
  emptyDesk,
  step,
  timerOf,
} from "./desk.ts";
import { describeTools, type OfferedTool, Program } from "./program.ts";
import {
  type CallerRequest,
  contentType,
  errorCodes,
  errorText,
  maxBodyBytes,
  parseRequest,
  resultText,
  RpcFault,
} from "./wire.ts";

export interface ToolServingParts {
  readonly context: Context;
  /** A process of the program, for this caller. */
  readonly startProgram: (caller: string) => ChildProgram;
  /** Whether a person lets this sender call tools. */
  readonly mayCall: (request: IncomingRequest) => Promise<boolean>;
}

export const deskLimits: DeskLimits = { maxOfOne: 4, maxCalls: 16, maxPrograms: 8 };
const hashCharacters = 32;

interface RunningProgram {
  readonly program: Program;
  readonly tools: readonly OfferedTool[];
}

/** A request that waits for its answer. */
interface CallerAwaiting {
  readonly asked: CallerRequest;
  readonly settle: (answer: string | RemoteError) => void;
}

export class ToolServing {
  readonly #parts: ToolServingParts;
  readonly #programs = new Map<number, RunningProgram>();
  /** By id; those under way stay when nobody waits any more. */
  readonly #asked = new Map<string, CallerRequest>();
  readonly #waiting = new Map<string, CallerAwaiting>();
  readonly #closing = new AbortController();
  #desk = emptyDesk;
  #timerAtMs: number | undefined;

  constructor(parts: ToolServingParts) {
    this.#parts = parts;
  }

  /** Throws to the requester. Its rules are asked first: a stranger starts and costs nothing. */
  async handle(request: IncomingRequest): Promise<string> {
    if (!await this.#parts.mayCall(request)) {
      throw new RemoteError("This agent serves no tools to this sender", {
        remoteCode: "refused",
      });
    }
    if (request.contentType !== contentType) {
      throw new RemoteError(`This agent takes requests of ${contentType} only`, {
        remoteCode: "unsupported",
      });
    }
    try {
      const asked = parseRequest(request.text());
      if (asked.method !== "notifications/cancelled") return await this.#ask(request, asked);
      const { sender: { agentId: caller }, conversation } = request;
      if (conversation !== undefined) this.#hear({ type: "cancelled", caller, conversation });
      return resultText({});
    } catch (error) {
      if (error instanceof RpcFault) return errorText(error);
      throw error;
    }
  }

  close(): void {
    this.#closing.abort();
    for (const { program } of this.#programs.values()) program.end();
    this.#programs.clear();
  }

  #ask(request: IncomingRequest, asked: CallerRequest): Promise<string> {
    const { sender, attempt, conversation, signal } = request;
    const caller = sender.agentId;
    const id = `${caller} ${request.id}`;
    const isCall = asked.method === "tools/call";
    if (isCall) this.#note(`${agentInWords(sender)} calls ${shown(asked.name)}`);
    return new Promise((resolve, reject) => {
      const waiting: CallerAwaiting = {
        asked,
        settle: (answer) => answer instanceof Error ? reject(answer) : resolve(answer),
      };
      this.#waiting.set(id, waiting);
      this.#asked.set(id, asked);
      signal.addEventListener("abort", () => {
        reject(signal.reason);
        if (this.#waiting.get(id) !== waiting) return;
        this.#waiting.delete(id);
        this.#hear({ type: "left", id });
      }, { once: true });
      this.#hear({
        type: "asked",
        call: {
          id,
          caller,
          conversation,
          attempt,
          tool: isCall ? asked.name : undefined,
          version: isCall ? asked.version : undefined,
        },
      });
    });
  }

  #hear(event: DeskEvent): void {
    if (this.#closing.signal.aborted) return;
    const nowMs = this.#parts.context.platform.nowMs();
    const { desk, effects } = step(this.#desk, event, { nowMs, limits: deskLimits });
    this.#desk = desk;
    for (const effect of effects) this.#carryOut(effect);
    for (const id of this.#asked.keys()) {
      if (!this.#desk.calls.has(id) && !this.#waiting.has(id)) this.#asked.delete(id);
    }
    this.#setTimer();
  }

  #carryOut(effect: DeskEffect): void {
    switch (effect.type) {
      case "start":
        return this.#start(effect.program, effect.caller);
      case "call": {
        const asked = this.#asked.get(effect.id);
        if (asked?.method !== "tools/call") return;
        return this.#programs.get(effect.program)?.program.call(
          effect.id,
          asked.name,
          asked.arguments,
        );
      }
      case "cancel":
        return this.#programs.get(effect.program)?.program.cancel(effect.id);
      case "answer":
        return this.#answer(effect.id, effect.answer);
      case "end":
        this.#programs.get(effect.program)?.program.end();
        this.#programs.delete(effect.program);
    }
  }

  #start(number: number, caller: string): void {
    const parts = { child: this.#parts.startProgram(caller), hash: hashOf, version };
    const program = new Program(parts, {
      onTools: (tools) => {
        this.#programs.set(number, { program, tools });
        const facts = tools.map((each) => [each.name, each] as const);
        this.#hear({ type: "ready", program: number, tools: new Map(facts) });
      },
      onSaid: (id, said) => this.#hear({ type: "said", id, said, bytes: sizeOf(said) }),
      onEnded: (why) => {
        this.#note(`The program has gone: ${why}`);
        this.#programs.delete(number);
        this.#hear({ type: "ended", program: number });
      },
    });
    this.#programs.set(number, { program, tools: [] });
  }

  #answer(id: string, answer: DeskAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.settle(this.#textOf(answer));
  }

  #textOf(answer: DeskAnswer): string | RemoteError {
    if (answer.kind === "refused") {
      const { refusal } = answer;
      if (refusal !== "overloaded") return errorText(refusals[refusal]);
      return new RemoteError("Too many calls are under way", {
        remoteCode: "overloaded",
        retryable: true,
      });
    }
    const text = answer.kind === "said"
      ? answer.said
      : resultText(describeTools(this.#programs.get(answer.program)?.tools ?? []));
    const bytes = sizeOf(text);
    if (bytes <= maxBodyBytes) return text;
    const message = `The answer has ${bytes} bytes, and a channel carries ${maxBodyBytes}`;
    return errorText({ code: errorCodes.internal, message });
  }

  /** For the user that serves. One that cannot be written is left out. */
  #note(text: string): void {
    void this.#parts.context.output.note(text).catch(() => {});
  }

  #setTimer(): void {
    const { deadline, nowMs } = this.#parts.context.platform;
    const atMs = timerOf(this.#desk);
    if (atMs === this.#timerAtMs) return;
    this.#timerAtMs = atMs;
    if (atMs === undefined) return;
    const rung = AbortSignal.any([
      this.#closing.signal,
      deadline(Math.max(1, Math.ceil(atMs - nowMs()))),
    ]);
    rung.addEventListener("abort", () => {
      if (this.#timerAtMs !== atMs) return;
      // Set again if it was early.
      this.#timerAtMs = undefined;
      this.#hear({ type: "rang" });
    }, { once: true });
  }
}

const refusals: Readonly<Record<Exclude<CallRefusal, "overloaded">, RpcFaultText>> = {
  no_such_tool: { code: errorCodes.invalidParams, message: "There is no such tool" },
  tool_changed: {
    code: errorCodes.changed,
    message: "The tool has changed since it was accepted",
  },
  may_have_run: {
    code: errorCodes.mayHaveRun,
    message: "The agent was started again meanwhile: the call may have run",
  },
  program_ended: {
    code: errorCodes.programEnded,
    message: "The program behind the tool has ended: the call may have run",
  },
  cancelled: { code: errorCodes.cancelled, message: "The call was cancelled" },
};

interface RpcFaultText {
  readonly code: number;
  readonly message: string;
}

export function hashOf(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text))).slice(0, hashCharacters);
}

function sizeOf(text: string): number {
  return utf8ToBytes(text).length;
}
