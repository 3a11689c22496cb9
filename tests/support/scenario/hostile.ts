/** What members with a modified client do, beyond what an honest one can be made to do. */
import { sha256 } from "@noble/hashes/sha2.js";
import { commitStatement, type RequestBody } from "../../../proto/mod.ts";
import type { Actor } from "./stage.ts";

/** From now on the actor's commits declare no change to the relay, whatever they do, and are signed so. */
export function declareNothing(actor: Actor): void {
  actor.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    const { owners: _, ...sent } = body as RequestBody<"SendCommit">; // cast: of this operation
    const commit = { ...sent, added: [], removed: [], welcomes: [], answers: [] };
    const statement = commitStatement({ ...commit, commitHash: sha256(commit.commit), owners: undefined });
    return forward({ ...commit, signature: actor.sign(statement) });
  };
}
