/** Statistics of the core at a moment: for metrics, and for tests. */
import type { StorageSize } from "../engine/engine.ts";
import type { SheddingLevel } from "./limits/load_shedding.ts";
import type { StorageLevel } from "./limits/storage_watch.ts";

export interface CoreStats {
  readonly sessions: number;
  readonly authenticated: number;
  readonly channels: number;
  readonly subscriptions: number;
  /** Bytes of application messages in the channels in memory. */
  readonly queueBytes: number;
  /** Requests, and parts of them, that wait for the turn of their account. */
  readonly requestsWaiting: number;
  /** Agents that were told when to log in. */
  readonly loginsWaiting: number;
  readonly joinRequests: number;
  readonly sheddingLevel: SheddingLevel;
  readonly storage: StorageSize & { readonly level: StorageLevel };
}
