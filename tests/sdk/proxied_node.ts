/** The agent behind a proxy in Node: its options are the argument, its outcome is the output. */
import process from "node:process";
import { platform } from "../../sdk/platform/node.ts";
import { goThroughProxy } from "./proxied_agent.ts";

process.stdout.write(
  await goThroughProxy(platform, JSON.parse(process.argv[2] ?? "")),
  () => process.exit(),
);
