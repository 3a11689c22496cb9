/**
 * The messages of tools over a channel: a request of content type `application/mcp+json`, whose
 * body is a JSON-RPC request of MCP, and its response as the reply. There are three methods.
 */

export const contentType = "application/mcp+json";
/** Size limit of a body: what a relay takes of one message, less what stands around it. */
export const maxBodyBytes = 1024 * 1024 - 16 * 1024;
/** The field of `_meta` in which a tool and its callers say which version they mean. */
export const versionField = "static/version";
/** Values that are nested deeper are not read. */
const maxDepth = 64;
const maxName = 128;

export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  mayHaveRun: -32001,
  programEnded: -32002,
  changed: -32003,
  cancelled: -32004,
} as const;

export type CallerRequest =
  | { readonly method: "tools/list" }
  | {
    readonly method: "tools/call";
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly version: string | undefined;
  }
  /** Cancels the call with the same conversation. */
  | { readonly method: "notifications/cancelled" };

/** A mistake in a request, for its response. */
export class RpcFault extends Error {
  override readonly name = "RpcFault";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Throws `RpcFault`. */
export function parseRequest(text: string): CallerRequest {
  const body = parseJson(text);
  if (!isRecord(body) || body["jsonrpc"] !== "2.0") {
    throw new RpcFault(errorCodes.invalidRequest, "The body is not one request of JSON-RPC 2.0");
  }
  const { method, params = {} } = body;
  if (method === "tools/list" || method === "notifications/cancelled") return { method };
  if (method !== "tools/call") {
    throw new RpcFault(
      errorCodes.unknownMethod,
      "Only tools/list, tools/call and notifications/cancelled are served",
    );
  }
  const { name, arguments: given = {}, _meta: meta = {} } = isRecord(params) ? params : {};
  if (typeof name !== "string" || name === "" || name.length > maxName || !isRecord(given)) {
    throw new RpcFault(errorCodes.invalidParams, "tools/call has a name, and arguments by name");
  }
  const version = isRecord(meta) ? meta[versionField] : undefined;
  return {
    method,
    name,
    arguments: given,
    version: typeof version === "string" ? version : undefined,
  };
}

/** Throws `RpcFault` for what is no JSON, or nested too deep to be looked into. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RpcFault(errorCodes.parse, "The body is not JSON");
  }
  if (isDeep(value)) throw new RpcFault(errorCodes.invalidRequest, "The body is nested too deep");
  return value;
}

/** Without recursion: the value is of somebody who may want it to end in an overflow. */
function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((each) =>
      typeof each === "object" && each !== null ? Object.values(each) : []
    );
  }
  return false;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function resultText(result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, result });
}

export function errorText({ code, message }: { code: number; message: string }): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message } });
}

export type ProgramAnswer =
  | { readonly ok: true; readonly result: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: number; readonly message: string };

/** Throws `RpcFault`. */
export function parseAnswer(text: string): ProgramAnswer {
  const body = parseJson(text);
  const { result, error } = isRecord(body) ? body : {};
  if (isRecord(error)) {
    const { code, message } = error;
    return {
      ok: false,
      code: typeof code === "number" ? code : errorCodes.internal,
      message: typeof message === "string" ? message : "",
    };
  }
  if (isRecord(result)) return { ok: true, result };
  throw new RpcFault(errorCodes.invalidRequest, "The reply is no response of JSON-RPC 2.0");
}
