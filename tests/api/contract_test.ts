/**
 * Each guarantee once, on the database that is quicker, and those of accounts and usage on the
 * embedded one too. A campaign tests all of them on both.
 */
import { anyBackend, backends, embedded } from "../support/api/harness.ts";
import { inCampaign } from "../support/campaign.ts";
import { testAccountsAndUsage, testContract, testRaces } from "./contract/every_guarantee.ts";

for (const backend of inCampaign ? backends : [anyBackend]) {
  testContract(backend);
  testRaces(backend);
}
if (!inCampaign && anyBackend !== embedded) testAccountsAndUsage(embedded);
