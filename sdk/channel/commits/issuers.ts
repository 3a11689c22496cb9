/**
 * A channel that requires badges: what owners say, and the change that it is in the present epoch.
 */
import {
  accountOf,
  type AgentId,
  badgeAttributes,
  type ChannelIssuers,
  compareIssuers,
  decodeBase64url,
  decodeIssuers,
  encodeBase64url,
  encodeIssuers,
  type Issuer,
  mailDomainOf,
  parseAccountId,
  quoted,
  sameIssuers,
  WireError,
} from "../../../proto/mod.ts";
import { createError, invalidArgument } from "../../base/errors.ts";
import { issuersExtension } from "../../mls/leaf.ts";
import { lacking } from "../../mls/policy_rules.ts";
import type { Membership } from "../group/membership.ts";
import { checkOwner, mustUpdate } from "./ownership.ts";
import type { ChannelIssuer, Plan, PlannedChange } from "./plan.ts";

const keyBytes = 32;

/** An empty list: nobody needs a badge. Undefined: they stay as they are. */
export function setIssuers(
  issuers: readonly ChannelIssuer[] | undefined,
  remove: readonly AgentId[],
): Plan {
  if (issuers === undefined) return { is: "issuers", wanted: undefined, remove: [...remove] };
  const list = issuers.map(readIssuer).sort(compareIssuers);
  const wanted = { required: list.length > 0, issuers: list };
  parse(() => decodeIssuers(encodeIssuers(wanted)));
  return { is: "issuers", wanted, remove: [...remove] };
}

/** Returns the issuers as `setIssuers` takes them. */
export function shownIssuers(issuers: ChannelIssuers | undefined): ChannelIssuer[] {
  return issuers?.required === true ? issuers.issuers.map(showIssuer) : [];
}

export function issuersChange(
  membership: Membership,
  { wanted, remove }: Pick<Extract<Plan, { is: "issuers" }>, "wanted" | "remove">,
): PlannedChange | undefined {
  checkOwner(membership, "change the issuers");
  const { group, departures } = membership;
  const removed = remove.filter((agentId) => membership.isMember(agentId));
  if (wanted === undefined || sameIssuers(group.binding.issuers, wanted)) {
    return removed.length === 0 ? undefined : { change: { remove: removed } };
  }
  const gone = [...departures.leavers.map(({ agentId }) => agentId), ...removed];
  const older = lacking(issuersExtension, group.current, gone);
  if (older.length > 0) throw mustUpdate(older, "require badges", "badges");
  const without = group.withoutPlace(wanted).filter((agentId) => !gone.includes(agentId));
  if (without.length > 0) throw notAttested(without);
  return { change: { issuers: wanted, remove: removed } };
}

function notAttested(members: readonly AgentId[]): Error {
  const text = `Cannot change the issuers: these members have no badge of one of them: ${
    members.join(", ")
  }. Give them badges and let them connect or call rotate(), or name them in \`remove\``;
  return createError("members_not_attested", text, { members });
}

function readIssuer({ domain, key, closed = false, account, mailDomain }: ChannelIssuer): Issuer {
  const bytes = typeof key === "string" ? parse(() => decodeBase64url(key)) : undefined;
  if (bytes?.length !== keyBytes) {
    throw invalidArgument(`The key of ${quoted(String(domain))} is no Ed25519 key in base64url`);
  }
  const required = badgeAttributes({
    account: account === undefined ? undefined : parse(() => parseAccountId(account)),
    mailDomain,
  });
  if (required.length > 1) {
    throw invalidArgument("An issuer requires an account or a mail domain, not both");
  }
  const [attribute] = required;
  return { domain, key: bytes, closed, ...(attribute !== undefined && { attribute }) };
}

/** With the error of a wrong argument. */
function parse<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof WireError) throw invalidArgument(cause.message);
    throw cause;
  }
}

function showIssuer({ domain, key, closed, attribute }: Issuer): ChannelIssuer {
  const attributes = attribute === undefined ? [] : [attribute];
  const [account, mailDomain] = [accountOf({ attributes }), mailDomainOf({ attributes })];
  return {
    domain,
    key: encodeBase64url(key),
    ...(closed && { closed }),
    ...(account !== undefined && { account }),
    ...(mailDomain !== undefined && { mailDomain }),
  };
}
