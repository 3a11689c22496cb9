// Every command of the CLI in this process, against one real API and one real relay. One module,
// and not one for each subject, because Deno may panic at the end of a process in which several
// have loaded the native store.
import { assertEquals } from "@std/assert";
import { commands } from "../../cli/mod.ts";
import { inCampaign } from "../support/campaign.ts";
import { startStack } from "../support/stack.ts";
import { testWhen } from "../support/mod.ts";
import { checkAccounts } from "./account.ts";
import { checkChannels } from "./channels.ts";
import { checkDiscovery } from "./discovery.ts";
import { checkHosted } from "./hosted.ts";
import { checkIssuers } from "./issuers.ts";
import { checkLinks } from "./links.ts";
import { cases, checkMishaps } from "./mishaps.ts";
import { checkOwnAccount } from "./own_account.ts";
import {
  checkPipesUnderDeno,
  checkPipesUnderNode,
  forNode,
  forPipes,
  installNodeProgram,
} from "./pipes.ts";
import { endings } from "./user.ts";

Deno.test("the commands", async (t) => {
  // Beside everything else, because compiling and packing takes long. By default the task's own
  // runtime shows what pipes do.
  const installing = inCampaign && forPipes.met && forNode.met ? installNodeProgram() : undefined;
  installing?.catch(() => {});
  await using stack = await startStack();
  await t.step("accounts", (t) => checkAccounts(t, stack.api));
  await t.step("the account's life", (t) => checkOwnAccount(t, stack));
  await t.step("discovery", (t) => checkDiscovery(t, stack));
  await t.step("channels", (t) => checkChannels(t, stack));
  await t.step("links", (t) => checkLinks(t, stack));
  await t.step("hosts", (t) => checkHosted(t, stack));
  await t.step("issuers", (t) => checkIssuers(t, stack));
  await t.step("mishaps", (t) => checkMishaps(t, stack.api));
  if (forPipes.met) {
    await t.step("in pipes, under Deno as the task starts it", () => checkPipesUnderDeno(stack));
  }
  if (installing !== undefined) {
    await using installed = await installing;
    await t.step(
      "in pipes, under Node from the npm package",
      () => checkPipesUnderNode(stack, installed),
    );
  }
  await t.step("each was tried with success, without its service, and with bad input", () => {
    const paths = commands.map(({ path }) => path).sort();
    assertEquals(Object.keys(cases).sort(), paths, "without its service, and with bad input");
    // Servers of models, and what wakes models, are processes of their own, in tests/mcp.
    const here = paths.filter((path) => !/^(mcp( serve| connect)?$|wake)/.test(path));
    assertEquals(
      here.filter((path) => endings.get(path)?.has(0) !== true),
      [],
      "never with success",
    );
  });
});

for (const { met, reason } of inCampaign ? [forPipes, forNode] : [forPipes]) {
  if (!met) testWhen({ met, reason }, "the program in pipes", () => {});
}
