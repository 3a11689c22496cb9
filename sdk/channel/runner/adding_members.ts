/**
 * Adding an agent by hand: its KeyPackage is given, or claimed at the relay, and a commit lets it
 * in.
 */
import { type AgentId, type ChannelId, parseAgentId } from "../../../proto/mod.ts";
import { createError } from "../../base/errors.ts";
import type { RelaySession } from "../../session/relay_session.ts";
import { type AddOptions, checkReplaced, readApplicant } from "../commits/adding.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Membership } from "../group/membership.ts";
import type { CommitRunner } from "./commit_runner.ts";

const nonceBytes = 16;

export interface AddingDeps extends Pick<ChannelDeps, "relayNowMs" | "runtime" | "signatures"> {
  readonly session: Pick<RelaySession, "call">;
}

/**
 * Adds an agent by its KeyPackage, or by its id when the relay holds a KeyPackage for it. Returns
 * the Welcome.
 */
export async function addMember(
  keyPackage: Uint8Array | string,
  options: AddOptions,
  { membership, commits }: { readonly membership: Membership; readonly commits: CommitRunner },
  deps: AddingDeps,
): Promise<Uint8Array> {
  const replaces = options.replaces === undefined
    ? undefined
    : checkReplaced(options.replaces, membership);
  const wanted = typeof keyPackage === "string" ? parseAgentId(keyPackage) : undefined;
  const message = typeof keyPackage === "string"
    ? await claim(parseAgentId(keyPackage), membership.channelId, deps)
    : keyPackage;
  const applicant = readApplicant(message, deps);
  if (wanted !== undefined && applicant.agentId !== wanted) {
    const text =
      "Cannot add the member: the relay returned the KeyPackage of another agent. Ask the agent to send you its KeyPackage directly";
    throw createError("key_package_invalid", text);
  }
  const named = { ...applicant, replaces: replaces ?? applicant.agentId };
  const committed = await commits.commit({ is: "add", applicant: named });
  if (committed === undefined) {
    throw createError(
      "already_member",
      "The agent came in with this KeyPackage before; the relay has its Welcome",
    );
  }
  const { welcome } = committed.prepared;
  if (welcome === undefined) {
    throw createError("internal", "Cannot add the member: no Welcome was made");
  }
  return welcome;
}

/** One KeyPackage of an agent that the relay holds for it. */
function claim(
  agentId: AgentId,
  channelId: ChannelId,
  { session, runtime }: AddingDeps,
): Promise<Uint8Array> {
  const nonce = runtime.randomBytes(nonceBytes);
  return session.call("AddMember", { channelId, agentId, nonce }).then((claimed) =>
    claimed.keyPackage
  );
}
