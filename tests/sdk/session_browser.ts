/** The session suite in a page. The server of the page puts the targets before this bundle. */
import { platform } from "../../sdk/platform/browser.ts";
import { runTests, type RuntimeResult } from "../support/runtime/suite.ts";
import { type CountedTarget, createSessionTests } from "./session_suite.ts";

const { sessionTargets } = globalThis as unknown as {
  readonly sessionTargets: readonly CountedTarget[];
};
const results: RuntimeResult[] = [];
for (const target of sessionTargets) {
  if (target.expected === "cells") Reflect.deleteProperty(globalThis, "WebTransport");
  results.push(...await runTests(createSessionTests(platform, target).slice(0, target.count)));
}
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
