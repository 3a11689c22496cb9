/**
 * The operator's view of the service, as JSON: it reads and changes nothing. Changes are the
 * commands of `commands.ts`.
 */
import { z } from "zod";
import { parseAccountId } from "../../proto/mod.ts";
import type { AccountOverview, AuditRow } from "../domain/admin_store.ts";
import type { Store } from "../domain/store.ts";
import { AdminRefusal } from "./commands.ts";
import type { Health } from "./health.ts";

export interface ViewDeps {
  readonly store: Store;
  readonly atMs: number;
  readonly readHealth: () => Promise<Health>;
}

const dayMs = 24 * 3_600_000;
const shownDays = 30;
const shownAccounts = 200;
const shownEvents = 100;

/** Every field has a bound. */
export const viewQuery = z.discriminatedUnion("view", [
  z.strictObject({
    view: z.literal("accounts"),
    by: z.enum(["age", "usage"]).optional(),
    search: z.string().max(254).optional(),
  }),
  z.strictObject({ view: z.literal("account"), id: z.uuid() }),
  z.strictObject({ view: z.literal("plans") }),
  z.strictObject({ view: z.literal("health") }),
  z.strictObject({ view: z.literal("audit"), before: z.int().min(1).optional() }),
]);

export type ViewQuery = z.infer<typeof viewQuery>;

export async function readView(query: ViewQuery, deps: ViewDeps): Promise<object> {
  const { store, atMs } = deps;
  switch (query.view) {
    case "accounts": {
      const search = query.search?.trim().toLowerCase();
      const accounts = await store.listAccounts({
        by: query.by ?? "age",
        limit: shownAccounts,
        atMs,
        ...(search !== undefined && search !== "" && { search }),
      });
      return { accounts: accounts.map(accountJson), complete: accounts.length < shownAccounts };
    }
    case "account":
      return await readAccount(query.id, deps);
    case "plans":
      return {
        plans: (await store.listPlans()).map(({ name, messageLimit }) => ({
          name,
          limit: messageLimit,
        })),
      };
    case "health":
      return await deps.readHealth();
    case "audit":
      return await readNewest(store, query.before);
  }
}

async function readAccount(id: string, { store, atMs }: ViewDeps): Promise<object> {
  const accountId = parseAccountId(id);
  const [account] = await store.listAccounts({ id: accountId, by: "age", limit: 1, atMs });
  if (account === undefined) {
    throw new AdminRefusal("Cannot show the account: there is none with this id");
  }
  const days = { from: isoDay(atMs - (shownDays - 1) * dayMs), to: isoDay(atMs) };
  return {
    account: accountJson(account),
    days: (await store.readUsageDays(accountId, days, atMs)).map(({ day, messages }) => ({
      day,
      messages,
    })),
    keys: (await store.listKeys(accountId, atMs)).map((key) => ({
      key_prefix: key.keyPrefix,
      kind: key.traits.kind,
      created_at: iso(key.createdAtMs),
      last_used_at: key.lastUsedAtMs === null ? null : iso(key.lastUsedAtMs),
    })),
    events: (await store.readOwnEvents(accountId, { beforeMs: undefined, limit: shownEvents }))
      .map(({ atMs: at, event, actor, subject }) => ({ at: iso(at), event, actor, subject })),
  };
}

/** The rows before a number, or the newest; numbers have no gaps. */
async function readNewest(store: Store, before: number | undefined): Promise<object> {
  const end = before ?? (await store.readAuditHead()).seq + 1;
  const after = Math.max(0, end - 1 - shownEvents);
  const rows = (await store.readAudit(after, shownEvents)).filter(({ seq }) => seq < end);
  return { events: rows.toReversed().map(eventJson) };
}

function eventJson({ seq, body, hash }: AuditRow): object {
  const [, at, event, actor, account, subject, details]: unknown[] = JSON.parse(body);
  return {
    seq,
    at,
    event,
    actor,
    account_id: account,
    subject,
    details,
    hash: new Uint8Array(hash).toHex(),
  };
}

function accountJson(account: AccountOverview): object {
  return {
    id: account.id,
    email: account.email,
    email_verified: account.isVerified,
    plan: account.plan,
    limit: account.messageLimit,
    state: account.state,
    messages: account.claimed,
    keys: account.activeKeys,
    sessions: account.openSessions,
    created_at: iso(account.createdAtMs),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function isoDay(ms: number): string {
  return iso(ms).slice(0, 10);
}
