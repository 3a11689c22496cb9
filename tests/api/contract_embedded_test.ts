// In a file of its own, so that both databases are tested side by side.
import { embedded } from "../support/api/harness.ts";
import { testGuarantees } from "./contract/every_guarantee.ts";

testGuarantees(embedded);
