import { testWhen } from "../support/mod.ts";
import { accountGuarantees } from "./contract/accounts.ts";
import { documentationGuarantees } from "./contract/documentation.ts";
import { keyGuarantees } from "./contract/keys.ts";
import { requestGuarantees } from "./contract/requests.ts";
import { tokenGuarantees } from "./contract/tokens.ts";
import { concurrencyGuarantees } from "./contract/concurrency.ts";
import { usageGuarantees } from "./contract/usage.ts";
import { backends, startTestApi } from "../support/api/harness.ts";

const contract = {
  ...accountGuarantees,
  ...keyGuarantees,
  ...tokenGuarantees,
  ...usageGuarantees,
  ...requestGuarantees,
  ...documentationGuarantees,
  ...concurrencyGuarantees,
};

for (const backend of backends) {
  testWhen(backend.requirement, `the HTTP contract holds on ${backend.name}`, async (t) => {
    const open = await backend.open();
    const api = await startTestApi(open.environment);
    try {
      for (const [name, check] of Object.entries(contract)) await t.step(name, () => check({ api, backend: open }));
    } finally {
      await api.close();
      await open.close();
    }
  });
}
