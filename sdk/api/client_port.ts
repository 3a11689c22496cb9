/**
 * The interface behind `StaticClient` and `ChannelManager`: an agent in this process
 * (`local_client.ts`, `local_manager.ts`), or a host that holds it (`host/remote_client.ts`). Both
 * carry out the operations of the host protocol's table, so that a method is added there and to the
 * class that has its words.
 */
import type { InputFields } from "../../proto/host/fields.ts";
import type {
  agentOperations,
  clientOperations,
  entrances,
  OperationExtras,
  Operations,
  Performer,
} from "../../proto/host/operations.ts";
import type { AgentId } from "../../proto/mod.ts";
import type { Abortable } from "../base/abortable.ts";
import type { Channel } from "./channel.ts";
import type { ClientEvent, MissedEvents } from "../channel/events.ts";
import type { TransportName } from "../transport/transport.ts";

interface AgentPort<T extends Operations> extends Performer<T> {
  readonly agentId: AgentId;
  readonly transport: TransportName | undefined;
  readonly channels: readonly string[];
  readonly welcomes: readonly string[];
  number(): Promise<string>;
  enter<Op extends keyof typeof entrances>(
    op: Op,
    fields: InputFields<typeof entrances[Op]["fields"]>,
    given?: OperationExtras,
  ): Promise<Channel>;
  events(
    signal: AbortSignal | undefined,
  ): AsyncIterableIterator<ClientEvent | MissedEvents, undefined>;
  close(): Promise<void>;
}

/** The agent itself. */
export type ClientPort = AgentPort<typeof clientOperations>;
/** It, and letting others in. */
export type ManagerPort = AgentPort<typeof agentOperations>;

/** How long to wait to be let in. */
export interface JoinOptions extends Abortable {
  /** Up to a minute when not given. */
  readonly timeoutMs?: number;
  /**
   * Enter only if this domain attests the agent that let this one in, as the user's trust list has
   * it; else reject with `not_attested`. Nothing is sent in the channel then.
   */
  readonly from?: string | undefined;
  /** Enter only a channel that requires badges; else reject with `not_attested`. */
  readonly requireIssuers?: boolean | undefined;
}
