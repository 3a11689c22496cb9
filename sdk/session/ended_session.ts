/**
 * A session that never began: for an agent whose store is only looked at. Everything that needs the
 * relay fails with its reason.
 */
import type { AgentId } from "../../proto/mod.ts";
import type { StaticError } from "../base/errors.ts";
import type { RelaySession } from "./relay_session.ts";

export function createEndedSession(
  agentId: AgentId,
  error: StaticError,
  nowMs: () => number,
): RelaySession {
  const hearsNothing = (): () => void => () => {};
  return {
    agentId,
    state: { kind: "ended", error },
    relayNowMs: nowMs,
    call: () => Promise.reject(error),
    acknowledge: () => {},
    confirm: () => {},
    onNotice: hearsNothing,
    onConnection: hearsNothing,
    onState: hearsNothing,
    close: () => Promise.resolve(),
  };
}
