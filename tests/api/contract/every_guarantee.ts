/** The guarantees of the HTTP API as one test for a database. */
import { testWhen } from "../../support/mod.ts";
import { accountGuarantees } from "./accounts.ts";
import type { Guarantees } from "./contract.ts";
import { documentationGuarantees } from "./documentation.ts";
import { keyGuarantees, keyRaces } from "./keys.ts";
import { openApiGuarantees } from "./openapi.ts";
import { requestGuarantees } from "./requests.ts";
import { tokenGuarantees } from "./tokens.ts";
import { concurrencyGuarantees } from "./concurrency.ts";
import { usageGuarantees } from "./usage.ts";
import { type Backend, startTestApi } from "../../support/api/harness.ts";
import { accountLifeGuarantees, accountLifeRaces } from "../extended/account_life.ts";
import { badgeGuarantees, badgeRaces } from "../extended/badges.ts";
import { keyKindGuarantees, keyKindRaces } from "../extended/key_kinds.ts";
import { sessionGuarantees } from "../extended/sessions.ts";
import { usageByKeyGuarantees, usageByKeyRaces } from "../extended/usage_by_key.ts";

const oneAfterTheOther: Guarantees = {
  ...accountGuarantees,
  ...keyGuarantees,
  ...tokenGuarantees,
  ...usageGuarantees,
  ...requestGuarantees,
  ...documentationGuarantees,
  ...keyKindGuarantees,
  ...badgeGuarantees,
  ...usageByKeyGuarantees,
  ...accountLifeGuarantees,
  ...sessionGuarantees,
  ...openApiGuarantees,
};

/** PostgreSQL decides between many connections; the embedded database has one. */
const atTheSameTime: Guarantees = {
  ...concurrencyGuarantees,
  ...keyRaces,
  ...keyKindRaces,
  ...badgeRaces,
  ...usageByKeyRaces,
  ...accountLifeRaces,
};

const what = "the HTTP contract, and what accounts and keys have beyond the interface, hold";

export function testContract(backend: Backend): void {
  testOn(backend, what, oneAfterTheOther);
}

/** Those that write most: enough to see that a database understands the statements of the other. */
export function testAccountsAndUsage(backend: Backend): void {
  testOn(backend, "what the HTTP contract says of accounts, usage and badges holds", {
    ...accountGuarantees,
    ...usageGuarantees,
    ...badgeGuarantees,
  });
}

export function testRaces(backend: Backend): void {
  testOn(backend, `${what} for requests at the same time`, atTheSameTime);
}

/** On one API: to open the embedded database takes seconds of processor. */
function testOn(backend: Backend, what: string, guarantees: Guarantees): void {
  testWhen(backend.requirement, `${what} on ${backend.name}`, async (t) => {
    const open = await backend.open();
    const api = await startTestApi(open.environment);
    try {
      for (const [name, check] of Object.entries(guarantees)) {
        await t.step(name, () => check({ api, backend: open }));
      }
    } finally {
      await api.close();
      await open.close();
    }
  });
}
