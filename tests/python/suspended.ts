/** Python raises a clear error when the account of its agent is suspended. */
import { assertEquals } from "@std/assert";
import { runAdmin } from "../../api/mod.ts";
import { readTestConfig } from "../support/api/harness.ts";
import { eventually, runCommand } from "../support/mod.ts";
import type { OneAgentParts } from "./one_agent.ts";

/** Sends until it is refused, and says how. */
const sendUntilRefused = `
import sys, time
from static_sdk import AuthError, ChannelManager
_, folder, ready = sys.argv
with ChannelManager(None, folder, b"carol", host="off") as carol:
    room = "acme/python/suspended"
    carol.client.open_channel(room)
    carol.send(room, b"before")
    open(ready, "w").close()
    while True:
        try:
            carol.send(room, b"after")
        except AuthError as error:
            print(error.code)
            break
`;

export async function suspendWhileSending(
  t: Deno.TestContext,
  { interpreter, folder, stack, env }: OneAgentParts,
): Promise<void> {
  await t.step("send() of a suspended account raises AuthError, and says so", async () => {
    const { apiKey, id } = await stack.api.signUp();
    const ready = `${folder}/ready`;
    const running = runCommand(
      interpreter,
      ["-c", sendUntilRefused, `${folder}/carol`, ready],
      { env: { ...env, STATIC_API_KEY: apiKey } },
    );
    const isReady = (): Promise<boolean> => Deno.stat(ready).then(() => true, () => false);
    await Promise.race([running, eventually({ what: "it sends" }, isReady, (yes) => yes)]);
    await runAdmin(["suspend", id], readTestConfig(stack.backend.environment));
    assertEquals((await running).trim(), "account_suspended");
  });
}
