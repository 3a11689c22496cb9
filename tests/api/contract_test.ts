// Both lists of guarantees on one API for each database: to open the embedded one takes five seconds of processor.
import { testWhen } from "../support/mod.ts";
import { accountGuarantees } from "./contract/accounts.ts";
import { documentationGuarantees } from "./contract/documentation.ts";
import { keyGuarantees } from "./contract/keys.ts";
import { requestGuarantees } from "./contract/requests.ts";
import { tokenGuarantees } from "./contract/tokens.ts";
import { concurrencyGuarantees } from "./contract/concurrency.ts";
import { usageGuarantees } from "./contract/usage.ts";
import { backends, startTestApi } from "../support/api/harness.ts";
import { accountLifeGuarantees } from "./extended/account_life.ts";
import { keyKindGuarantees } from "./extended/key_kinds.ts";
import { sessionGuarantees } from "./extended/sessions.ts";
import { usageByKeyGuarantees } from "./extended/usage_by_key.ts";

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

for (const backend of backends) {
  const both = `the HTTP contract, and what accounts and keys have beyond the interface, hold on ${backend.name}`;
  testWhen(backend.requirement, both, async (t) => {
    const open = await backend.open();
    const api = await startTestApi(open.environment);
    try {
      for (const [name, check] of [...Object.entries(contract), ...Object.entries(beyondTheInterface)]) {
        await t.step(name, () => check({ api, backend: open }));
      }
    } finally {
      await api.close();
      await open.close();
    }
  });
}
