/** The dependencies of the gRPC service on its process: a relay, or the stand-alone proxy. */
import type { Strangers } from "../strangers.ts";
import type { Upstream } from "./upstream.ts";

export interface GrpcDeps {
  readonly upstream: Upstream;
  /** Has a place for each session that has not authenticated. */
  readonly strangers: Strangers;
  /** A session without a call or a stream for this long is ended. */
  readonly idleTimeoutMs: number;
  readonly nowMs: () => number;
  /** Runs once after the time; returns a function to cancel it. */
  readonly after: (ms: number, run: () => void) => () => void;
  readonly randomBytes: (length: number) => Uint8Array;
  /** A fault of our own code; its text does not reach the client. */
  readonly onFault: (error: unknown) => void;
}
