/** Every guarantee of the HTTP API as one test for a database. */
import { testWhen } from "../../support/mod.ts";
import { accountGuarantees } from "./accounts.ts";
import type { Guarantees } from "./contract.ts";
import { documentationGuarantees } from "./documentation.ts";
import { keyGuarantees } from "./keys.ts";
import { openApiGuarantees } from "./openapi.ts";
import { requestGuarantees } from "./requests.ts";
import { tokenGuarantees } from "./tokens.ts";
import { concurrencyGuarantees } from "./concurrency.ts";
import { usageGuarantees } from "./usage.ts";
import { type Backend, startTestApi } from "../../support/api/harness.ts";
import { accountLifeGuarantees } from "../extended/account_life.ts";
import { keyKindGuarantees } from "../extended/key_kinds.ts";
import { sessionGuarantees } from "../extended/sessions.ts";
import { usageByKeyGuarantees } from "../extended/usage_by_key.ts";

const contract = {
  ...accountGuarantees,
  ...keyGuarantees,
  ...tokenGuarantees,
  ...usageGuarantees,
  ...requestGuarantees,
  ...documentationGuarantees,
  ...concurrencyGuarantees,
};

const beyondTheInterface = {
  ...keyKindGuarantees,
  ...usageByKeyGuarantees,
  ...accountLifeGuarantees,
  ...sessionGuarantees,
};

const everything: readonly Guarantees[] = [contract, beyondTheInterface, openApiGuarantees];

/** On one API: to open the embedded database takes five seconds of processor. */
export function testGuarantees(backend: Backend): void {
  const all = `the HTTP contract, and what accounts and keys have beyond the interface, hold on ${backend.name}`;
  testWhen(backend.requirement, all, async (t) => {
    const open = await backend.open();
    const api = await startTestApi(open.environment);
    try {
      for (const [name, check] of everything.flatMap((each) => Object.entries(each))) {
        await t.step(name, () => check({ api, backend: open }));
      }
    } finally {
      await api.close();
      await open.close();
    }
  });
}
