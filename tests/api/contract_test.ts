/** Each guarantee once, on the database that makes it harder; a campaign tests all of them on both. */
import { anyBackend, backends, embedded } from "../support/api/harness.ts";
import { inCampaign } from "../support/campaign.ts";
import { testContract, testRaces } from "./contract/every_guarantee.ts";

for (const backend of inCampaign ? backends : [embedded]) testContract(backend);
for (const backend of inCampaign ? backends : [anyBackend]) testRaces(backend);
