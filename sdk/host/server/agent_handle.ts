/**
 * The agent that operations work on, and how messages of its channels are read: alone by one
 * program, or by readers of a host.
 */
import type { Channel } from "../../api/channel.ts";
import type { StaticClient } from "../../api/client.ts";
import type { Envelope } from "../../content/envelope.ts";
import type { ChannelManager } from "../../api/manager.ts";
import type { FrameHeader } from "../frames.ts";
import type { ReaderPlace } from "./reader_position.ts";
import type { ServedChannels } from "./serving.ts";

/** How a program wants to read. */
export interface ReadOptions {
  /** The durable reader; `default` when not given. */
  readonly as: string | undefined;
  /** From now on, holding nothing back. */
  readonly tail: boolean;
  readonly all: boolean;
  readonly manual: boolean;
  /** The caller takes one message at a time: while nobody waits it holds up no loop. */
  readonly oneByOne?: boolean;
}

/** A message, and what else is to be said with it. */
export interface ReadMessage {
  readonly envelope: Envelope;
  /** With `manual`: it is done with. Resolves when that is on disk. */
  readonly ack?: () => Promise<void>;
  /**
   * Without `manual`: it is done with, before the next one is asked for. The disk hears of it in a
   * moment.
   */
  readonly pass?: () => Promise<void>;
  /** Without `manual`: it is done with, and the loop ends. Resolves when that is on disk. */
  readonly finish?: () => Promise<void>;
  /** The program has not seen it, and it comes again. */
  readonly giveBack?: () => void;
  readonly more?: FrameHeader;
}

/** A loop of one program over a channel's messages. */
export interface MessageReader {
  /** Undefined at the end. Without `manual` it acknowledges what was given before. */
  next(): Promise<ReadMessage | undefined>;
  /**
   * Messages that are there besides, up to so many, without waiting and without acknowledging. None
   * with `manual`, and none while another loop waits for one.
   */
  more?(count: number): ReadMessage[];
  /**
   * Resolves when it is on disk that everything it has passed is done with. None with `manual`,
   * where `ack` does.
   */
  written?(): Promise<void>;
  /** Marks the messages given as processed, but none with `manual`; then ends. */
  finish(): Promise<void>;
  /** Nobody waits for the next one now. */
  rest?(): void;
  /** The messages given come again. */
  end(): Promise<void>;
}

/** The parts of an agent that one program may use. */
export interface AgentHandle {
  readonly client: StaticClient;
  /** Others use the agent, too. */
  readonly isShared: boolean;
  /** Undefined when only a client was asked for. */
  readonly manager: ChannelManager | undefined;
  readonly served: ServedChannels;
  read(channel: Channel, options: ReadOptions): Promise<MessageReader>;
  /**
   * A message that the host before this one gave, by its place: it died before the program could
   * acknowledge it there. Resolves when that is on disk. Only of hosts.
   */
  acknowledge?(channel: Channel, as: string | undefined, place: ReaderPlace): Promise<void>;
  /** The program has said that it ends. */
  close(): Promise<void>;
}

/** Size limit of the messages that one answer brings beside the first. */
export const maxMoreBytes: number = 256 * 1024;

/**
 * Returns about the size of a message in an answer: of small ones, the fields are the larger part.
 */
export function sizeOf({ bytes, headers }: Envelope): number {
  return 1024 + bytes.length +
    Object.entries(headers).reduce((sum, [name, text]) => sum + name.length + text.length, 0);
}
