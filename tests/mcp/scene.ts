/** An agent with a stub in the place of its model, and a channel of another agent with it. */
import type { Channel } from "../../sdk/mod.ts";
import { shareStack } from "../support/shared_stack.ts";
import { type Home, inviteBot, openHome, runStatic } from "./home.ts";
import { writeProgram } from "./hooks.ts";
import { StubModels } from "./stub_models.ts";

const name = "acme/wake/harness";

export interface Scene extends AsyncDisposable {
  readonly home: Home;
  readonly room: Channel;
  readonly bot: string;
  readonly models: StubModels;
  /** With `static` in its `PATH`. */
  readonly env: Readonly<Record<string, string>>;
}

export async function openScene(): Promise<Scene> {
  const stack = await shareStack();
  await using closing = new AsyncDisposableStack();
  const home = closing.use(await openHome(stack));
  const { alice, token, room } = await inviteBot(stack, home.folder, name);
  closing.defer(() => alice.close());
  await runStatic(home.env, ["channel", "join", name, "--agent", "bot"], token);
  const bot = room.members().find(({ identity }) => identity.startsWith("bot"))?.agentId ?? "";
  const models = closing.use(new StubModels());
  await writeProgram(`${home.folder}/bin`);
  await Deno.mkdir(`${home.folder}/work`);
  const env = { ...home.env, PATH: `${home.folder}/bin:${home.env["PATH"]}` };
  const end = closing.move();
  return { home, room, bot, models, env, [Symbol.asyncDispose]: () => end.disposeAsync() };
}
