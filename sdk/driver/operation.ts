/** Parameters and results of an operation. The tables of operations are in the files beside this one. */
import type { Channel } from "../channel.ts";
import { invalidArgument } from "../base/errors.ts";
import type { ChannelManager } from "../manager.ts";
import type { Fields } from "../host/fields.ts";
import type { Header } from "../host/frames.ts";
import type { Held } from "./held.ts";
import type { Receivers } from "./receivers.ts";
import type { Streams } from "./streams.ts";

export interface Call {
  readonly fields: Fields;
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

export type Operation = (call: Call) => Promise<Answer | void> | Answer | void;

export async function channelOf({ held, fields, signal }: Call): Promise<Channel> {
  return await held.client.channel(fields.text("channel"), { signal });
}

export function managerOf({ held }: Call): ChannelManager {
  if (held.manager !== undefined) return held.manager;
  throw invalidArgument("Invites need a manager; connect with manager: true");
}
