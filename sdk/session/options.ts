/**
 * The options of a session: from the user (`SessionOptions`) and from the runtime (`SessionDeps`).
 */
import type { Usage } from "../../proto/mod.ts";
import type { Endpoint, TransportChoice } from "../transport/endpoint.ts";
import type { Connector } from "../transport/transport.ts";
import type { CoverOptions, CoverProfile } from "./cover.ts";
import type { DialPlaces } from "../transport/dial_places.ts";
import type { AgentService } from "./service.ts";
import type { TokenSource } from "./tokens.ts";

export interface SessionOptions {
  /** Endpoints of one relay or of several; those of one are tried in this order. */
  readonly endpoints: readonly Endpoint[];
  /** Added to the error when none of them leads to a relay. */
  readonly note?: string;
  readonly transport?: TransportChoice | undefined;
  readonly identity: Uint8Array;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** With the private half of it. */
  readonly sign: (message: Uint8Array) => Uint8Array;
  /** Cover traffic, both ways; the profile `standard` when not given. */
  readonly cover?: CoverProfile | CoverOptions | undefined;
  readonly timing?: Partial<SessionTiming>;
  /**
   * `connect` waits for the first connection, for a busy service until then; not given: nobody
   * does, and it is tried for ever.
   */
  readonly untilMs?: number;
}

/** Times that a test may want shorter. */
export interface SessionTiming {
  /** The time limit of one way to one endpoint, authentication included. */
  readonly connectMs: number;
  /** The time limit of a call that names no timeout of its own. */
  readonly callMs: number;
  /** The first wait before reconnecting; doubles up to `maxRetryMs`, with jitter. */
  readonly minRetryMs: number;
  readonly maxRetryMs: number;
}

/** A `Platform` has all of it but the tokens. */
export interface SessionDeps {
  readonly connectors: readonly Connector[];
  /** Not given: as many attempts to connect as there are sessions. */
  readonly dials?: DialPlaces;
  readonly tokens: TokenSource;
  readonly nowMs: () => number;
  /** Goes on evenly when somebody sets the clock: intervals are measured by it. */
  readonly steadyMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  readonly randomBytes: (length: number) => Uint8Array<ArrayBuffer>;
  /** How much of the plan is used; undefined when the API cannot say it now. */
  readonly usage?: () => Promise<Usage | undefined>;
  /** The API, where its address is known. */
  readonly service?: AgentService;
}
