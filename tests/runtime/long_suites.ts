/** Suites that are too long for the test command, for every runtime. */
import { createWebCryptoMlKem } from "../../sdk/mls/testing/world.ts";
import type { OpeningMlKem } from "../../sdk/mls/testing/world.ts";
import { runTests, type RuntimeResult } from "../support/runtime/suite.ts";
import { createLongTests } from "./sealing_suite.ts";

/** `native`: that of WebCrypto if it is not given. */
export async function runLongSuites(
  native: OpeningMlKem = createWebCryptoMlKem(crypto.subtle),
): Promise<readonly RuntimeResult[]> {
  return await runTests(createLongTests(native));
}
