import { realPostgres } from "../support/api/harness.ts";
import { testGuarantees } from "./contract/every_guarantee.ts";

testGuarantees(realPostgres);
