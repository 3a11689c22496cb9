/** Sessions that have not proved who they are: few in all, few of one address. */
import { limits } from "../../proto/mod.ts";
import type { Admission } from "../../server/http2/mod.ts";
import { toConnectError } from "./errors.ts";

/** Counts one more; the answer, called when it authenticates or ends, forgets it. Throws a ConnectError above the limits. */
export function admitStranger(strangers: Admission, remoteAddress: string): () => void {
  const leave = strangers.admit(remoteAddress);
  if (leave === undefined) {
    const message = "Too many sessions have not authenticated yet: try again in some seconds";
    throw toConnectError({ code: "overloaded", message, retryAfterMs: limits.challengeMs });
  }
  let counted = true;
  return () => {
    if (counted) leave();
    counted = false;
  };
}
