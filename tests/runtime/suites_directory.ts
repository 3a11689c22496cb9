/**
 * Every runtime suite, for runtimes with files: Deno and Node. A new suite is added here and in
 * `suites_browser.ts`.
 */
import { createWebCryptoMlKem } from "../../sdk/mls/testing/world.ts";
import { createNodeMlKem } from "../../sdk/platform/node_key_agreement.ts";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import { tests as aes } from "./aes_suite.ts";
import { tests as badges } from "./badge_suite.ts";
import { tests as messageCrypto } from "./message_crypto_suite.ts";
import { tests as mls } from "./mls_suite.ts";
import { createTests as createSealingTests } from "./sealing_suite.ts";
import { createTests as createStoreTests } from "./store_suite.ts";
import { createTests as createXWingTests } from "./x_wing_suite.ts";
import { runTests, type RuntimeResult } from "../support/runtime/suite.ts";

export type SuiteResults = Readonly<Record<string, readonly RuntimeResult[]>>;

export async function runSuites(folder: string): Promise<SuiteResults> {
  return {
    aes: await runTests(aes),
    messageCrypto: await runTests(messageCrypto),
    badges: await runTests(badges),
    mls: await runTests(mls),
    xWing: await runTests(
      createXWingTests(createNodeMlKem() ?? createWebCryptoMlKem(crypto.subtle)),
    ),
    sealing: await runTests(
      createSealingTests(createNodeMlKem() ?? createWebCryptoMlKem(crypto.subtle)),
    ),
    store: await runTests(
      createStoreTests((name, options) => openDirectoryStore(`${folder}/${name}`, options)),
    ),
  };
}
