/** The API's rows of the table of limits (`docs/capacity.md`), as a configuration sets them. */
import {
  type Limit,
  type Limits,
  tellBytes,
  tellCount,
  tellRate,
  tellTime,
} from "../server/limits/mod.ts";
import type { Config } from "./config.ts";
import { maxBadgedAgents } from "./domain/badges.ts";
import { badgeLifetimeSeconds, tokenLifetimeSeconds } from "./domain/key_ring.ts";
import { resetPauseMs } from "./domain/mail/mail_codes.ts";
import type { RateLimit } from "./domain/rate_limit.ts";
import { ratesOf } from "./rate_limits.ts";
import { publishableMessages } from "./routes/key_fields.ts";
import { maxBodyBytes } from "./start_api.ts";
import { maxSessions } from "./store/sessions.ts";

/** Messages of a month by plan, as the database has them when it is new; null for any number. */
export type PlanMessages = readonly (readonly [plan: string, messages: number | null])[];

export function apiLimits(config: Config, plans: PlanMessages): Limits {
  return {
    "plans and sizes": messages(plans),
    "requests to the API": [...requests(config), ...passwords(config)],
  };
}

function messages(plans: PlanMessages): Limit[] {
  const ofPlans = plans.map(([plan, count]) => `${plan} ${tellCount(count ?? Infinity)}`).join(
    "; ",
  );
  const ofKey = `no limit; ${tellCount(publishableMessages)} of a publishable key`;
  const byAdmin = ["deno task admin set-plan", "deno task admin set-limit"];
  return [
    [
      "messages in a UTC month",
      ofPlans,
      "account",
      "`quota_exceeded` until the next month",
      ...byAdmin,
    ],
    ["messages in a UTC month", ofKey, "key", "`quota_exceeded`", "static keys create --limit"],
  ];
}

function requests(config: Config): Limit[] {
  const { account, changes, sharedKeys } = ratesOf(config);
  const limited = "`rate_limited`";
  const { maxConnections, maxActiveKeys, maxGuests } = config;
  return [
    ["requests", told(account), "account", limited, "STATIC_RATE_ACCOUNT"],
    ["requests with a publishable key", told(account), "key", limited, "STATIC_RATE_ACCOUNT"],
    [
      "requests with a publishable key",
      told(sharedKeys),
      "visitor",
      limited,
      "STATIC_RATE_ACCOUNT",
    ],
    ["requests", told(sharedKeys), "guest pass", limited, "STATIC_RATE_ACCOUNT"],
    ["requests that change something", told(changes), "account", limited, "STATIC_RATE_ACCOUNT"],
    ["body", tellBytes(maxBodyBytes), "request", "`payload_too_large`"],
    [
      "connections",
      tellCount(maxConnections),
      "API",
      "the address with most gives one up",
      "STATIC_API_CONNECTIONS",
    ],
    ["badges", told(changes), "account", limited, "STATIC_RATE_ACCOUNT"],
    ["agents in its list of badges", tellCount(maxBadgedAgents), "account", "the oldest leaves it"],
    ["life", tellTime(1_000 * badgeLifetimeSeconds), "badge", "the SDK renews it"],
    ["active keys", tellCount(maxActiveKeys), "account", "`key_limit_reached`", "STATIC_MAX_KEYS"],
    ["guest passes", tellCount(maxGuests), "account", "`key_limit_reached`"],
    ["sessions of the console", tellCount(maxSessions), "account", "the oldest ends"],
    [
      "life",
      tellTime(1_000 * tokenLifetimeSeconds),
      "token",
      "`session_expired`; the SDK renews it",
    ],
  ];
}

function passwords(config: Config): Limit[] {
  const { signUp, failures, passwords, pairs, known, mail, mailClients, resetMails } = ratesOf(
    config,
  );
  const limited = "`rate_limited`";
  const unseen = "202 without a mail";
  const queue = `${tellCount(config.hashing.queueLimit)}, half of them for known places and keys`;
  return [
    ["sign-ups", told(signUp), "address", limited, "STATIC_RATE_SIGN_UP"],
    ["wrong keys and sessions", told(failures), "address", limited, "STATIC_RATE_FAILURES"],
    ["wrong passwords and codes", told(failures), "address", limited, "STATIC_RATE_FAILURES"],
    ["wrong passwords of strangers", told(passwords), "mailbox", limited, "STATIC_RATE_PASSWORDS"],
    [
      "wrong passwords of strangers by its id",
      told(passwords),
      "account",
      limited,
      "STATIC_RATE_PASSWORDS",
    ],
    ["of these, from one address", told(pairs), "mailbox", limited, "STATIC_RATE_PASSWORDS"],
    ["wrong passwords of known places", told(known), "account", "they are strangers"],
    ["wrong passwords with a key or session", told(known), "account", "they are strangers"],
    [
      "keys and passwords that wait to be checked",
      queue,
      "API",
      "the client with most gets `overloaded`",
    ],
    ["mails to it, for each purpose", told(mail), "mailbox", limited, "STATIC_RATE_MAIL"],
    ["mails that it asks for", told(mailClients), "address", limited, "STATIC_RATE_MAIL"],
    ["requests for a reset", told(mailClients), "address", unseen, "STATIC_RATE_MAIL"],
    ["mails for a reset", told(resetMails), "mailbox", unseen],
    ["mails for a reset", `one in ${tellTime(resetPauseMs)}`, "account", unseen],
  ];
}

function told({ limit, windowMs }: RateLimit): string {
  return tellRate(limit, windowMs);
}
