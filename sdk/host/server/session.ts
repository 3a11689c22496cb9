/**
 * One program's connection: calls in, answers out, in any order. Everything that a program has
 * opened ends with its connection; what it was given and did not acknowledge comes again.
 */
import type { FieldsOf } from "../../../proto/host/fields.ts";
import { sessionOperations } from "../../../proto/host/operations.ts";
import { version } from "../../../proto/mod.ts";
import { createError, invalidArgument, type StaticError } from "../../base/errors.ts";
import type { Runtime } from "../../base/runtime.ts";
import { HeaderFields } from "../fields.ts";
import { encodeFrame, type FrameHeader, type HostFrame, protocolVersion } from "../frames.ts";
import { encodeError } from "../wire_errors.ts";
import { agentOperations } from "./agent_operations.ts";
import type { AgentHandle } from "./agent_handle.ts";
import { messageOperations } from "./message_operations.ts";
import type { OperationAnswer, OperationCall, OperationsByName } from "./operation.ts";
import { Receivers } from "./receivers.ts";
import { ProgramStreams } from "./streams.ts";
import { agentState } from "./state_updates.ts";

/** The parts that an entry point adds: the connection, and perhaps operations of its own. */
export interface SessionParts {
  readonly runtime: Runtime;
  /** The runtime's name as `hello` shows it, as in `deno 2.9.5`. */
  readonly runtimeName: string;
  readonly pid: number;
  readonly write: (frame: Uint8Array) => void;
  /** No more is said: the connection ends once what was written is out. */
  readonly hangUp: () => void;
  /** The agent, or for stdio what `connect` makes of it. */
  readonly held: AgentHandle | undefined;
  /** The mark of what a host was started with, for `hello`. */
  readonly settings?: string | undefined;
  readonly connect?: (
    fields: ConnectFields,
    identity: Uint8Array,
    session: HostSession,
  ) => Promise<AgentHandle>;
  readonly operations?: OperationsByName;
}

export type ConnectFields = FieldsOf<typeof sessionOperations.connect.fields>;

interface ProgramCall extends Pick<OperationCall, "header" | "bytes" | "signal"> {
  readonly op: string;
}

const maxCalls = 1024;
/**
 * Never held up. A loop's word about what it has seen would be lost otherwise, and with its next
 * question it has seen everything; so would be the answer to a request. Each ends something that
 * the program was given, so there are no more of them than of that.
 */
const makesRoom: ReadonlySet<string> = new Set(["passed", "ack", "reply", "fail", "end", "finish"]);
const operations: OperationsByName = new Map([...agentOperations, ...messageOperations]);

export class HostSession {
  readonly #parts: SessionParts;
  readonly #calls = new Map<number, AbortController>();
  readonly #streams = new ProgramStreams();
  readonly #asks = new Map<
    number,
    { resolve: (token: string) => void; reject: (error: Error) => void }
  >();
  #askCount = 0;
  #held: AgentHandle | undefined;
  #receivers: Receivers | undefined;
  #connecting: Promise<AgentHandle> | undefined;
  #over = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    if (parts.held !== undefined) this.#hold(parts.held);
    const { runtimeName: runtime, pid } = parts;
    const agent = parts.held === undefined ? {} : { agentId: parts.held.client.agentId };
    const settings = parts.settings === undefined ? {} : { settings: parts.settings };
    this.tell({
      event: "hello",
      protocol: protocolVersion,
      sdk: version,
      runtime,
      pid,
      ...agent,
      ...settings,
    });
  }

  /** An event that nobody asked for. */
  tell(event: FrameHeader): void {
    if (!this.#over) this.#parts.write(encodeFrame(event));
  }

  /** Throws `protocol_error` for a frame that is not a call; then the connection is useless. */
  receive({ header, bytes }: HostFrame): void {
    const { id, op } = header;
    if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 1 || typeof op !== "string") {
      throw createError(
        "protocol_error",
        "A call has an id, which is a whole number from 1 up, and an op",
      );
    }
    if (this.#calls.has(id)) {
      throw createError("protocol_error", `Two calls under way have the id ${id}`);
    }
    const stop = new AbortController();
    this.#calls.set(id, stop);
    this.#perform({ op, header: new HeaderFields(header), bytes, signal: stop.signal }).then(
      (answer) => this.#answer(id, { id, ok: answer?.ok ?? {} }, answer?.bytes),
      (error) =>
        this.#answer(
          id,
          stop.signal.aborted ? { id, cancelled: true } : { id, error: encodeError(error) },
        ),
    );
  }

  /** Asks the program for a token. */
  ask(what: "token"): Promise<string> {
    return new Promise((resolve, reject) => {
      const ask = ++this.#askCount;
      this.#asks.set(ask, { resolve, reject });
      this.tell({ event: "ask", ask, what });
    });
  }

  /** The other side broke the rules, or must go: says why, and ends. */
  goodbye(error: StaticError): void {
    this.tell({ event: "goodbye", error: encodeError(error) });
    this.end();
    this.#parts.hangUp();
  }

  /** The program has gone, or goes. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    for (const stop of this.#calls.values()) stop.abort();
    for (const { reject } of this.#asks.values()) reject(gone());
    this.#streams.endAll();
    this.#receivers?.end();
  }

  #hold(held: AgentHandle): void {
    this.#held = held;
    this.#receivers = new Receivers(held, this.#parts.runtime);
  }

  #answer(id: number, header: FrameHeader, bytes?: Uint8Array): void {
    this.#calls.delete(id);
    if (this.#over) return;
    let frame: Uint8Array;
    try {
      frame = encodeFrame(header, bytes);
    } catch (error) {
      frame = encodeFrame({ id, error: encodeError(error) });
    }
    this.#parts.write(frame);
  }

  async #perform({ op, header, bytes, signal }: ProgramCall): Promise<OperationAnswer | void> {
    if (op === "cancel") return this.#cancel(header);
    if (op === "answer") return this.#answered(header);
    // A message of the host before, which has no stream, was not given by this one.
    const isHeldUp = !makesRoom.has(op) || !header.has("stream");
    if (this.#calls.size > maxCalls && isHeldUp) {
      throw createError("overloaded", `${maxCalls} calls are under way; wait for some of them`);
    }
    if (op === "connect") return await this.#connect(header, bytes);
    if (op === "close") return await this.#close();
    const operation = this.#parts.operations?.get(op) ?? operations.get(op);
    if (operation === undefined) {
      throw createError("unknown_operation", `There is no operation "${op}" in this version`);
    }
    const [held, receivers] = [this.#held, this.#receivers];
    if (held === undefined || receivers === undefined) throw invalidArgument("Connect first");
    const tell = (event: FrameHeader): void => this.tell(event);
    return await operation({
      header,
      fields: undefined,
      bytes,
      signal,
      held,
      receivers,
      streams: this.#streams,
      tell,
    });
  }

  async #connect(header: HeaderFields, identity: Uint8Array): Promise<OperationAnswer> {
    const { connect } = this.#parts;
    if (connect === undefined) {
      throw invalidArgument("This host has its agent; there is nothing to connect");
    }
    if (this.#connecting !== undefined) {
      throw invalidArgument("It is connected, or connects; start another driver");
    }
    this.#connecting = connect(header.read(sessionOperations.connect.fields), identity, this);
    try {
      const held = await this.#connecting;
      if (this.#over) {
        await held.close();
        throw gone();
      }
      this.#hold(held);
      return { ok: agentState(held.client) };
    } catch (error) {
      this.#connecting = undefined;
      throw error;
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#receivers?.finish();
    } finally {
      await this.#held?.close();
    }
  }

  #cancel(header: HeaderFields): void {
    this.#calls.get(header.read(sessionOperations.cancel.fields).call)?.abort();
  }

  #answered(header: HeaderFields): void {
    const { ask, token, failure = "The program gave no token" } = header.read(
      sessionOperations.answer.fields,
    );
    const asked = this.#asks.get(ask);
    this.#asks.delete(ask);
    if (token !== undefined) return asked?.resolve(token);
    asked?.reject(createError("auth_failed", failure));
  }
}

function gone(): StaticError {
  return createError("transport_error", "The program has gone");
}
