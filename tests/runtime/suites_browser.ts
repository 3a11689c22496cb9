/**
 * Every runtime suite, for browsers: bundled, loaded by a page, reported to the server that served
 * it.
 */
import { createWebCryptoMlKem } from "../../sdk/mls/testing/world.ts";
import { openBrowserStore } from "../../sdk/platform/browser_store.ts";
import { tests as aes } from "./aes_suite.ts";
import { tests as badges } from "./badge_suite.ts";
import { tests as messageCrypto } from "./message_crypto_suite.ts";
import { tests as mls } from "./mls_suite.ts";
import { createIndexedDbTests } from "./indexed_db_suite.ts";
import { createTests as createSealingTests } from "./sealing_suite.ts";
import { createTests as createStoreTests } from "./store_suite.ts";
import { createTests as createXWingTests } from "./x_wing_suite.ts";
import { runTests } from "../support/runtime/suite.ts";

const results = {
  aes: await runTests(aes),
  messageCrypto: await runTests(messageCrypto),
  badges: await runTests(badges),
  mls: await runTests(mls),
  xWing: await runTests(createXWingTests(createWebCryptoMlKem(crypto.subtle))),
  sealing: await runTests(createSealingTests(createWebCryptoMlKem(crypto.subtle))),
  store: await runTests(createStoreTests(openBrowserStore)),
  indexedDb: await runTests(createIndexedDbTests(openBrowserStore)),
};
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
