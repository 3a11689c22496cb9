/**
 * Parameters and results of an operation. Its fields are checked by the host protocol's table
 * before it is carried out.
 */
import type { FieldsOf, HostShape } from "../../../proto/host/fields.ts";
import type { Operations } from "../../../proto/host/operations.ts";
import type { Channel } from "../../api/channel.ts";
import { invalidArgument } from "../../base/errors.ts";
import type { ChannelManager } from "../../api/manager.ts";
import type { HeaderFields } from "../fields.ts";
import type { FrameHeader } from "../frames.ts";
import type { AgentHandle } from "./agent_handle.ts";
import type { Receivers } from "./receivers.ts";
import type { ProgramStreams } from "./streams.ts";

export interface OperationCall<Given = unknown> {
  /** All that came. */
  readonly header: HeaderFields;
  /** The fields that the table has for the operation. */
  readonly fields: Given;
  readonly bytes: Uint8Array;
  /** Aborted by `cancel`, and when the program has gone. */
  readonly signal: AbortSignal;
  readonly held: AgentHandle;
  readonly streams: ProgramStreams;
  readonly receivers: Receivers;
  /** An event for the program. */
  readonly tell: (event: FrameHeader) => void;
}

export interface OperationAnswer {
  readonly ok?: FrameHeader;
  readonly bytes?: Uint8Array;
}

type OperationResult = Promise<OperationAnswer | void> | OperationAnswer | void;
export type OperationHandler = (call: OperationCall) => OperationResult;
export type OperationsByName = ReadonlyMap<string, OperationHandler>;

/** How each operation of a group is carried out. */
export type Handlers<T extends Operations> = {
  readonly [Op in keyof T]: (call: OperationCall<FieldsOf<T[Op]["fields"]>>) => OperationResult;
};

export function checked<T extends Operations>(rows: T, handlers: Handlers<T>): OperationsByName {
  return each(rows, (op, call) => handlers[op](call));
}

/** The same for a group whose operations are carried out in one way. */
export function each<T extends Operations>(
  rows: T,
  carryOut: <Op extends keyof T>(
    op: Op,
    call: OperationCall<FieldsOf<T[Op]["fields"]>>,
  ) => OperationResult,
): OperationsByName {
  const operation =
    (op: keyof T, { fields }: { readonly fields: HostShape }): OperationHandler => (call) =>
      // cast: by the shape that gives the type
      carryOut(op, { ...call, fields: call.header.read(fields) as never });
  return new Map(Object.entries(rows).map(([op, row]) => [op, operation(op, row)]));
}

export async function channelOf(
  { held, signal }: Pick<OperationCall, "held" | "signal">,
  name: string,
): Promise<Channel> {
  return await held.client.channel(name, { signal });
}

export function managerOf({ held }: Pick<OperationCall, "held">): ChannelManager {
  if (held.manager !== undefined) return held.manager;
  throw invalidArgument("Invites need a manager; connect with manager: true");
}
