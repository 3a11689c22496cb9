/**
 * Parameters and results of an operation. Its fields are checked by the host protocol's table
 * before it is carried out.
 */
import type { FieldsOf, Shape } from "../../../proto/host/fields.ts";
import type { Operations } from "../../../proto/host/operations.ts";
import type { Channel } from "../../api/channel.ts";
import { invalidArgument } from "../../base/errors.ts";
import type { ChannelManager } from "../../api/manager.ts";
import type { Fields } from "../fields.ts";
import type { Header } from "../frames.ts";
import type { Held } from "./held.ts";
import type { Receivers } from "./receivers.ts";
import type { Streams } from "./streams.ts";

export interface Call<Given = unknown> {
  /** All that came. */
  readonly header: Fields;
  /** Those of the table. */
  readonly fields: Given;
  readonly bytes: Uint8Array;
  /** Aborted by `cancel`, and when the program has gone. */
  readonly signal: AbortSignal;
  readonly held: Held;
  readonly streams: Streams;
  readonly receivers: Receivers;
  /** An event for the program. */
  readonly tell: (event: Header) => void;
}

export interface Answer {
  readonly ok?: Header;
  readonly bytes?: Uint8Array;
}

type Answering = Promise<Answer | void> | Answer | void;
export type Operation = (call: Call) => Answering;
export type OperationsByName = ReadonlyMap<string, Operation>;

/** How each operation of a group is carried out. */
export type Handlers<T extends Operations> = {
  readonly [Op in keyof T]: (call: Call<FieldsOf<T[Op]["fields"]>>) => Answering;
};

export function checked<T extends Operations>(rows: T, handlers: Handlers<T>): OperationsByName {
  return each(rows, (op, call) => handlers[op](call));
}

/** The same for a group whose operations are carried out in one way. */
export function each<T extends Operations>(
  rows: T,
  carryOut: <Op extends keyof T>(op: Op, call: Call<FieldsOf<T[Op]["fields"]>>) => Answering,
): OperationsByName {
  const operation = (op: keyof T, { fields }: { readonly fields: Shape }): Operation => (call) =>
    // cast: by the shape that gives the type
    carryOut(op, { ...call, fields: call.header.read(fields) as never });
  return new Map(Object.entries(rows).map(([op, row]) => [op, operation(op, row)]));
}

export async function channelOf(
  { held, signal }: Pick<Call, "held" | "signal">,
  name: string,
): Promise<Channel> {
  return await held.client.channel(name, { signal });
}

export function managerOf({ held }: Pick<Call, "held">): ChannelManager {
  if (held.manager !== undefined) return held.manager;
  throw invalidArgument("Invites need a manager; connect with manager: true");
}
