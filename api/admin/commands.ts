/**
 * Commands of operators: the same from the command line and on the admin port. Each returns text
 * that says what happens now; each change has its row in the audit, with the way it came.
 */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import type { AccountOverview, KeyOverview } from "../domain/admin_store.ts";
import { exportLine, verifyAudit } from "../domain/audit.ts";
import { emailKeyOf } from "../domain/mail/emails.ts";
import type { AuditStamp } from "../domain/deps.ts";
import type { Store } from "../domain/store.ts";

export const usage = `Usage:
  deno task admin accounts [<number>]                     the newest accounts
  deno task admin search <part of an address>
  deno task admin show <who>                              who: an address or an id
  deno task admin top [<number>]                          by messages of this month
  deno task admin keys <prefix>                           whose key begins like this
  deno task admin suspend <who>
  deno task admin resume <who>
  deno task admin delete <who>
  deno task admin revoke-all <who>                        ends all keys and sessions
  deno task admin set-plan <who> <plan>
  deno task admin set-limit <plan | who> <messages a month | unlimited | plan>
  deno task admin audit export [<after number>]
  deno task admin audit verify [<number> <hash>]          with what an earlier one printed
  deno task admin rotate-jwt-key                          the key that signs tokens
  deno task admin rotate-badge-key                        the key that signs badges`;

export interface AdminDeps {
  readonly store: Store;
  readonly act: AuditStamp;
  readonly rotate: (command: RotationCommand) => Promise<string>;
}

const rotations = ["rotate-jwt-key", "rotate-badge-key"] as const;
export type RotationCommand = typeof rotations[number];

export function isRotation(command: string): command is RotationCommand {
  return rotations.some((each) => each === command);
}

/** The command is not one, or what it is about does not exist. */
export class AdminRefusal extends Error {
  override readonly name = "AdminRefusal";
}

const plans = ["free", "dev", "team", "enterprise"];
const defaultRows = 20;
const maxRows = 1000;
/** A hundred bytes each, about. */
const maxExported = 100_000;

export async function runCommand(args: readonly string[], deps: AdminDeps): Promise<string> {
  const [command = "", ...rest] = args;
  if (rest.length === 0 && isRotation(command)) return await deps.rotate(command);
  const [first = "", second = ""] = rest;
  switch (`${command} ${rest.length}`) {
    case "accounts 0":
    case "accounts 1":
      return await list(deps, { by: "age", limit: readNumber(first, defaultRows) });
    case "top 0":
    case "top 1":
      return await list(deps, { by: "usage", limit: readNumber(first, defaultRows) });
    case "search 1":
      return await list(deps, { by: "age", limit: maxRows, search: first.toLowerCase() });
    case "keys 1":
      return table(await deps.store.findKeys(first, maxRows), keyLine);
    case "set-limit 2":
      return await setLimit(deps, first, second);
    case "audit 1":
    case "audit 2":
    case "audit 3":
      return await runAudit(deps, rest);
    case "show 1":
    case "suspend 1":
    case "resume 1":
    case "delete 1":
    case "revoke-all 1":
    case "set-plan 2":
      return await aboutAccount(deps, command, { who: first, plan: second });
  }
  throw new AdminRefusal(usage);
}

type AccountListQuery = {
  readonly by: "age" | "usage";
  readonly limit: number;
  readonly search?: string;
};

async function list({ store, act }: AdminDeps, query: AccountListQuery): Promise<string> {
  return table(await store.listAccounts({ ...query, atMs: act.atMs }), accountLine);
}

async function aboutAccount(
  { store, act }: AdminDeps,
  command: string,
  { who, plan }: { who: string; plan: string },
): Promise<string> {
  const accountId = await find(store, who, command === "set-plan" ? "set the plan" : command);
  switch (command) {
    case "suspend":
      return await store.suspend(accountId, act)
        ? `${who} is suspended. Relays end its sessions within 10 s.`
        : `${who} is suspended already.`;
    case "resume":
      return await store.resume(accountId, act)
        ? `${who} is active again.`
        : `${who} is not suspended.`;
    case "delete":
      await store.deleteAccount({ accountId, ...act });
      return `${who} is deleted. Relays end its sessions and close its channels.`;
    case "revoke-all": {
      const { keys, sessions } = await store.revokeAll(accountId, act);
      return `${keys} keys and ${sessions} sessions of ${who} have ended. Tokens live their hour.`;
    }
    case "set-plan":
      switch (await store.setPlan(accountId, plan, act)) {
        case "set":
          return `${who} is now on plan ${plan}. Tokens issued from now on carry it.`;
        case "unknown_account":
          throw noAccount("set the plan", who);
      }
      throw new AdminRefusal(
        `Cannot set the plan: there is no plan ${plan}. Plans are free, dev, team and enterprise`,
      );
    default:
      return table(
        await store.listAccounts({ id: accountId, by: "age", limit: 1, atMs: act.atMs }),
        accountLine,
      );
  }
}

/** Sets the limit of a plan (a number or `unlimited`) or of one account (a number or `plan`). */
async function setLimit({ store, act }: AdminDeps, whose: string, text: string): Promise<string> {
  const isPlan = plans.includes(whose);
  const isNumber = /^\d{1,12}$/.test(text);
  if (!isNumber && !(isPlan ? text === "unlimited" : text === "plan")) {
    const other = isPlan ? '"unlimited"' : '"plan". For no limit, set its plan to enterprise';
    throw new AdminRefusal(
      `Cannot set the limit: ${text} is neither a number of messages nor ${other}`,
    );
  }
  const limit = isNumber ? Number(text) : null;
  if (!isPlan && !whose.includes("@") && !isId(whose)) {
    throw new AdminRefusal(`Cannot set the limit: there is no plan ${whose}`);
  }
  if (isPlan) {
    if (await store.setPlanLimit(whose, limit, act) === "unknown_plan") {
      throw new AdminRefusal(`Cannot set the limit: there is no plan ${whose}`);
    }
    return `Plan ${whose} now has ${text} messages a month. Leases already granted stay as they are.`;
  }
  const accountId = await find(store, whose, "set the limit");
  if (!await store.setAccountLimit(accountId, limit, act)) throw noAccount("set the limit", whose);
  return `${whose} now has ${
    isNumber ? text : "its plan's"
  } messages a month. Leases already granted stay as they are.`;
}

async function runAudit(
  { store }: AdminDeps,
  [what, first = "0", second]: readonly string[],
): Promise<string> {
  if (what === "export" && second === undefined && /^\d{1,15}$/.test(first)) {
    return (await store.readAudit(Number(first), maxExported)).map(exportLine).join("\n");
  }
  const anchored = second !== undefined && /^\d{1,15}$/.test(first) &&
    /^[0-9a-f]{64}$/.test(second);
  if (what !== "verify" || (!anchored && (second !== undefined || first !== "0"))) {
    throw new AdminRefusal(usage);
  }
  const verdict = await verifyAudit(
    store,
    anchored ? { seq: Number(first), hash: second } : undefined,
  );
  if (verdict.outcome === "whole") {
    return `The audit is whole: ${verdict.rows} events. Its last hash is ${verdict.hash}`;
  }
  throw new AdminRefusal(`The audit is broken at event ${verdict.seq}: ${verdict.problem}`);
}

async function find(store: Store, who: string, action: string): Promise<AccountId> {
  const found = await store.findAccount(
    isId(who) ? { id: parseAccountId(who) } : { emailKey: emailKeyOf(who) },
  );
  if (found === undefined) throw noAccount(action, who);
  return found;
}

function noAccount(action: string, who: string): AdminRefusal {
  return new AdminRefusal(`Cannot ${action}: ${who} has no account`);
}

function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

function readNumber(text: string, fallback: number): number {
  if (text === "") return fallback;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new AdminRefusal(usage);
  return Math.min(maxRows, Number(text));
}

function table<Row>(rows: readonly Row[], line: (row: Row) => readonly string[]): string {
  return rows.length === 0 ? "None." : rows.map((row) => line(row).join("  ")).join("\n");
}

function accountLine(account: AccountOverview): readonly string[] {
  const {
    id,
    email,
    isVerified,
    plan,
    messageLimit,
    state,
    activeKeys,
    openSessions,
    claimed,
    createdAtMs,
  } = account;
  return [
    id,
    state,
    email === null ? "no address" : `${email}${isVerified ? "" : " (unverified)"}`,
    messageLimit === null ? plan : `${plan}, at most ${messageLimit}`,
    `${claimed} messages`,
    `${activeKeys} keys`,
    `${openSessions} sessions`,
    isoDay(createdAtMs),
  ];
}

function keyLine(
  { keyPrefix, id, accountId, kind, createdAtMs, lastUsedAtMs, expiresAtMs, revokedAtMs }:
    KeyOverview,
): readonly string[] {
  return [
    keyPrefix,
    id,
    `account ${accountId}`,
    kind,
    `made ${isoDay(createdAtMs)}`,
    lastUsedAtMs === null ? "never used" : `used ${isoDay(lastUsedAtMs)}`,
    ...(expiresAtMs === null ? [] : [`expires ${isoDay(expiresAtMs)}`]),
    ...(revokedAtMs === null ? [] : [`revoked ${isoDay(revokedAtMs)}`]),
  ];
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
