/** Where a call comes from. */
import type { SessionSockets } from "../../server/http2/mod.ts";

export interface GrpcCaller {
  readonly remoteAddress: string;
  /** The caller's session has authenticated: limits on strangers no longer count its connection. */
  readonly vouch: (session: SessionSockets) => void;
}
