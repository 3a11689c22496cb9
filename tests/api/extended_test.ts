import { testWhen } from "../support/mod.ts";
import { backends, startTestApi } from "../support/api/harness.ts";
import { accountLifeGuarantees } from "./extended/account_life.ts";
import { keyKindGuarantees } from "./extended/key_kinds.ts";
import { sessionGuarantees } from "./extended/sessions.ts";
import { usageByKeyGuarantees } from "./extended/usage_by_key.ts";

const guarantees = {
  ...keyKindGuarantees,
  ...usageByKeyGuarantees,
  ...accountLifeGuarantees,
  ...sessionGuarantees,
};

for (const backend of backends) {
  testWhen(backend.requirement, `accounts and keys beyond the interface hold on ${backend.name}`, async (t) => {
    const open = await backend.open();
    const api = await startTestApi(open.environment);
    try {
      for (const [name, check] of Object.entries(guarantees)) await t.step(name, () => check({ api, backend: open }));
    } finally {
      await api.close();
      await open.close();
    }
  });
}
