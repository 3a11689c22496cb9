/**
 * A process of the program that is offered: an MCP server on its standard input and output. It is
 * the user's own, and still gets nothing that is not for it: what it says is bounded, and what it
 * asks of a model or a person is refused, because there is none here.
 */
import { shown } from "../../proto/mod.ts";
import type { ChildProgram } from "../platform/child_program.ts";
import { errorCodes, isRecord, parseJson, versionField } from "./wire.ts";

/** A tool as callers are told of it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly version: string;
  readonly isRepeatable: boolean;
}

export interface ProgramListeners {
  readonly onTools: (tools: readonly OfferedTool[]) => void;
  /** The response to a call, as text. */
  readonly onSaid: (call: string, said: string) => void;
  /** `why` is for the user. */
  readonly onEnded: (why: string) => void;
}

export interface ProgramParts {
  readonly child: ChildProgram;
  /** A short hash of a text. */
  readonly hash: (text: string) => string;
  readonly version: string;
}

const protocolVersion = "2025-06-18";
const [maxTools, maxPages] = [128, 16];

type ProgramQuestion =
  | { readonly kind: "opened" }
  | { readonly kind: "page"; readonly tools: readonly OfferedTool[]; readonly pages: number }
  | { readonly kind: "call"; readonly call: string };

export class Program {
  readonly #parts: ProgramParts;
  readonly #heard: ProgramListeners;
  /** By the id under which the program was asked. */
  readonly #waiting = new Map<number, ProgramQuestion>();
  #count = 0;
  #isOver = false;

  constructor(parts: ProgramParts, heard: ProgramListeners) {
    this.#parts = parts;
    this.#heard = heard;
    void this.#read();
    this.#ask({ kind: "opened" }, "initialize", {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: "static", version: parts.version },
    });
  }

  call(call: string, name: string, given: Readonly<Record<string, unknown>>): void {
    this.#ask({ kind: "call", call }, "tools/call", { name, arguments: given });
  }

  cancel(call: string): void {
    for (const [id, waiting] of this.#waiting) {
      if (waiting.kind !== "call" || waiting.call !== call) continue;
      this.#waiting.delete(id);
      this.#tell({ method: "notifications/cancelled", params: { requestId: id } });
    }
  }

  end(): void {
    this.#isOver = true;
    this.#parts.child.end();
  }

  async #read(): Promise<void> {
    const why = await this.#hearAll().then(() => "it has ended", (error) => shown(String(error)));
    this.#parts.child.end();
    if (!this.#isOver) this.#heard.onEnded(why);
    this.#isOver = true;
  }

  async #hearAll(): Promise<void> {
    for await (const line of this.#parts.child.lines()) {
      if (!this.#isOver && line !== "") this.#hear(line);
    }
  }

  #hear(line: string): void {
    let message: unknown;
    try {
      message = parseJson(line);
    } catch {
      // Programs that print other things there are known. It is not passed on.
      return;
    }
    if (!isRecord(message)) return;
    const { id, method } = message;
    if (typeof method === "string") return this.#asked(method, id);
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (waiting === undefined) return;
    this.#waiting.delete(Number(id));
    this.#answered(waiting, message);
  }

  /** By the program, which has no model and no person here. */
  #asked(method: string, id: unknown): void {
    if (method === "notifications/tools/list_changed") return this.#list([], 0, undefined);
    if (typeof id !== "number" && typeof id !== "string") return;
    if (method === "ping") return this.#tell({ id, result: {} });
    const error = { code: errorCodes.unknownMethod, message: "There is nobody here to ask" };
    this.#tell({ id, error });
  }

  #answered(waiting: ProgramQuestion, message: Readonly<Record<string, unknown>>): void {
    if (waiting.kind === "call") {
      const { result, error } = message;
      const said = isRecord(error) ? { error } : { result: isRecord(result) ? result : {} };
      return this.#heard.onSaid(waiting.call, JSON.stringify({ jsonrpc: "2.0", id: 1, ...said }));
    }
    const { result } = message;
    if (!isRecord(result)) return this.#fail("it does not tell its tools");
    if (waiting.kind === "page") return this.#page(waiting, result);
    this.#tell({ method: "notifications/initialized" });
    this.#list([], 0, undefined);
  }

  #list(tools: readonly OfferedTool[], pages: number, cursor: string | undefined): void {
    this.#ask({ kind: "page", tools, pages: pages + 1 }, "tools/list", cursor ? { cursor } : {});
  }

  #page(
    { tools: before, pages }: Extract<ProgramQuestion, { kind: "page" }>,
    { tools: listed, nextCursor }: Readonly<Record<string, unknown>>,
  ): void {
    const found = Array.isArray(listed) ? listed.flatMap((each) => this.#toolIn(each)) : [];
    const tools = [...before, ...found].slice(0, maxTools);
    if (typeof nextCursor === "string" && pages < maxPages && tools.length < maxTools) {
      return this.#list(tools, pages, nextCursor);
    }
    this.#heard.onTools(tools);
  }

  #toolIn(tool: unknown): OfferedTool[] {
    const { name, description = "", inputSchema, annotations } = isRecord(tool) ? tool : {};
    if (typeof name !== "string" || typeof description !== "string" || !isRecord(inputSchema)) {
      return [];
    }
    const hints = isRecord(annotations) ? annotations : {};
    const isRepeatable = hints["readOnlyHint"] === true || hints["idempotentHint"] === true;
    const version = this.#parts.hash(JSON.stringify([name, description, inputSchema]));
    return [{ name, description, inputSchema, version, isRepeatable }];
  }

  #fail(why: string): void {
    if (this.#isOver) return;
    this.end();
    this.#heard.onEnded(why);
  }

  #ask(waiting: ProgramQuestion, method: string, params: object): void {
    const id = ++this.#count;
    this.#waiting.set(id, waiting);
    this.#tell({ id, method, params });
  }

  #tell(message: object): void {
    if (this.#isOver) return;
    this.#parts.child.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
      .catch((error) => this.#fail(`it does not read: ${shown(String(error))}`));
  }
}

/** The list as a response to a caller. */
export function describeTools(tools: readonly OfferedTool[]): object {
  return {
    tools: tools.map(({ name, description, inputSchema, version }) => ({
      name,
      description,
      inputSchema,
      _meta: { [versionField]: version },
    })),
  };
}
