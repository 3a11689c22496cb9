/**
 * Stands for the models of Claude Code, of Codex and of the examples: over HTTP, in the forms of
 * two services. Told
 * the sentence of a wake, it calls the tool `wait` until that returns no messages. It says nothing
 * else than "ok".
 */
import { sentence } from "./waking.ts";

export interface Asked {
  readonly atMs: number;
  /** Everything that the model was sent. */
  readonly body: string;
  /** The newest thing in it is a wake. */
  readonly isWake: boolean;
  /** The stub's answer ended the turn. */
  readonly isLast: boolean;
}

interface Part {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

interface Tool {
  readonly type?: string;
  readonly name?: string;
  readonly tools?: readonly Tool[];
}

interface Body {
  readonly messages?: readonly Part[];
  readonly input?: readonly Part[];
  readonly tools?: readonly Tool[];
  readonly stream?: boolean;
}

/** The call of a tool; undefined ends the turn. */
type Answer = { readonly name: string; readonly namespace?: string } | undefined;

export class StubModels implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #calls = 0;

  constructor() {
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const text = await request.text();
    const isClaude = pathname === "/v1/messages";
    if (!isClaude && pathname !== "/v1/responses") return new Response("{}", { status: 404 });
    const body: Body = JSON.parse(text);
    const parts = isClaude ? body.messages ?? [] : body.input ?? [];
    const newest = newestOf(parts);
    const isSaid = newest.includes(sentence);
    const isMore = /\\*"messages\\*":\s*\[\s*\{/.test(newest);
    const tool = isSaid || isMore ? findWait(body.tools ?? []) : undefined;
    // Harnesses ask for titles, too, without tools.
    const isWake = isSaid && tool !== undefined;
    this.asked.push({ atMs: Date.now(), body: text, isWake, isLast: tool === undefined });
    const id = `${++this.#calls}`;
    return isClaude ? claude(id, tool) : openai(id, tool, body.stream === true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** Behind the model's own last word: results of a tool, or something that was said to it. */
function newestOf(parts: readonly Part[]): string {
  const own = parts.findLastIndex(({ role, type }) =>
    role === "assistant" || type === "function_call"
  );
  return JSON.stringify(parts.slice(own + 1));
}

function findWait(tools: readonly Tool[], namespace?: string): Answer {
  for (const { type, name = "", tools: inner } of tools) {
    if (type === "namespace" && inner !== undefined) {
      const found = findWait(inner, name);
      if (found !== undefined) return found;
    } else if (name === "wait" || /static.*wait$/.test(`${namespace ?? ""}${name}`)) {
      return { name, ...(namespace !== undefined && { namespace }) };
    }
  }
  return undefined;
}

function stream(events: readonly Readonly<Record<string, unknown>>[]): Response {
  const lines = events.map((event) =>
    `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`
  );
  return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
}

function claude(id: string, tool: Answer): Response {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model: "stub",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const [block, delta] = tool === undefined
    ? [{ type: "text", text: "" }, { type: "text_delta", text: "ok" }]
    : [
      { type: "tool_use", id: `toolu_${id}`, name: tool.name, input: {} },
      { type: "input_json_delta", partial_json: '{"seconds":0.5}' },
    ];
  const stop = tool === undefined ? "end_turn" : "tool_use";
  return stream([
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: "message_stop" },
  ]);
}

function openai(id: string, tool: Answer, isStreamed: boolean): Response {
  const item = tool === undefined
    ? {
      type: "message",
      id: `msg_${id}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "ok", annotations: [] }],
    }
    : {
      type: "function_call",
      id: `fc_${id}`,
      call_id: `call_${id}`,
      ...tool,
      arguments: '{"seconds":0.5}',
      status: "completed",
    };
  const response = { id: `resp_${id}`, object: "response", created_at: 1, model: "stub" };
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  };
  const whole = { ...response, status: "completed", output: [item], usage };
  if (!isStreamed) return Response.json(whole);
  return stream([
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole },
  ]);
}
