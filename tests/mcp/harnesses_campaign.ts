// Idle sessions of the real Claude Code and Codex, with a stub in the place of their models: each
// message of another agent begins a turn, and the model sees no byte of it before it calls `wait`.
import { assert, assertEquals } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { eventually } from "../support/mod.ts";
import { testWhen } from "../support/requirement.ts";
import { bringHarnesses, HarnessTerminal, programs, versions } from "./harnesses.ts";
import { runStatic } from "./home.ts";
import { openScene, type Scene } from "./scene.ts";
import { sentence, Wakes } from "./waking.ts";

const ready = await bringHarnesses();

/** Each message begins a turn; how long that took, in milliseconds. */
async function wakeOften({ room, bot, models }: Scene, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let number = 0; number < count; number++) {
    const secret = `psst-${crypto.randomUUID()}`;
    const from = models.asked.length;
    const began = Date.now();
    await room.send(secret, { to: bot });
    const turn = await eventually(
      { what: `turn ${number + 1}`, withinMs: 120_000 },
      () => Promise.resolve(models.asked.slice(from)),
      (asked) => asked.some(({ body, isLast }) => isLast && body.includes(secret)),
    );
    const [first] = turn.filter(({ isWake }) => isWake);
    assert(first !== undefined && !first.body.includes(secret), "the wake has nothing of it");
    took.push(first.atMs - began);
    // wait: the harness shows the end of the turn and is idle; nothing tells that
    await new Promise((resolve) => setTimeout(resolve, 1500));
  }
  return took.sort((one, other) => one - other);
}

function figures(took: readonly number[]): string {
  const at = (share: number): string =>
    ((took[Math.floor((took.length - 1) * share)] ?? 0) / 1000).toFixed(2);
  return `${took.length} wakes in ${at(0)} to ${at(1)} s, median ${at(0.5)} s`;
}

/** Claude Code is started with the plugin, no login, and a stub for its model. */
async function prepareClaude(
  { home: { folder }, models, env }: Scene,
): Promise<{ readonly words: string; readonly env: Readonly<Record<string, string>> }> {
  const plugin = `${folder}/plugin`;
  await runStatic(env, ["wake", "claude", "--write", plugin, "--agent", "bot"]);
  const key = `sk-ant-api03-${"x".repeat(20)}`;
  const config = {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: {
      [`${folder}/work`]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true },
    },
  };
  await Deno.mkdir(`${folder}/claude`);
  await Deno.writeTextFile(`${folder}/claude/.claude.json`, JSON.stringify(config));
  return {
    words: `--plugin-dir ${plugin} --allowedTools mcp__plugin_static_static__wait`,
    env: {
      ...env,
      CLAUDE_CONFIG_DIR: `${folder}/claude`,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_BASE_URL: models.url,
      ENABLE_TOOL_SEARCH: "false",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  };
}

testWhen(ready, "an idle session of Claude Code gets a turn for each message", async () => {
  await using scene = await openScene();
  const { home: { folder }, models, room, bot } = scene;
  const { words, env } = await prepareClaude(scene);
  await using terminal = new HarnessTerminal(`${programs.claude} ${words}`, {
    cwd: `${folder}/work`,
    env,
  });
  try {
    const took = await wakeOften(scene, 50);
    // The hook is there, too, and leaves this session to the monitor.
    assertEquals(models.asked.filter(({ isWake }) => isWake).length, 50);
    tried(`Claude Code ${versions.claude}: ${figures(took)}`);
  } catch (cause) {
    throw new Error(`The terminal shows: ${terminal.screen.slice(-4000)}`, { cause });
  }
  // To all members: no turn.
  const before = models.asked.length;
  await room.send("to all");
  await room.send("to bot", { to: bot });
  await eventually(
    { what: "the last turn" },
    () => Promise.resolve(models.asked.slice(before)),
    (asked) => asked.some(({ body, isLast }) => isLast && body.includes("to bot")),
  );
  assertEquals(models.asked.slice(before).filter(({ isWake }) => isWake).length, 1);
});

testWhen(ready, "Claude Code without a terminal starts no monitor: its hook wakes it", async () => {
  await using scene = await openScene();
  const { home: { folder }, models } = scene;
  const { words, env } = await prepareClaude(scene);
  const open = (more: string, input: string): Deno.ChildProcess => {
    const child = new Deno.Command("sh", {
      args: ["-c", `exec ${programs.claude} -p ${words} ${more}`],
      cwd: `${folder}/work`,
      clearEnv: true,
      env: { SHELL: "/bin/sh", LANG: "C.UTF-8", ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    keys = child.stdin.getWriter();
    void keys.write(new TextEncoder().encode(input)).catch(() => {});
    return child;
  };
  let keys: WritableStreamDefaultWriter<Uint8Array> | undefined;
  // A session of one question ends as it does without the plugin.
  const single = open("--output-format text", "hello");
  await keys?.close();
  assertEquals((await single.output()).success, true);
  const lingerMs = Date.now() - (models.asked.at(-1)?.atMs ?? 0);
  // Claude Code waits half a minute for hooks in the background.
  assert(lingerMs < 25_000, `it ended ${lingerMs} ms after its last word`);
  const question = { type: "user", message: { role: "user", content: "hello" } };
  const streamed = "--input-format stream-json --output-format stream-json --verbose";
  const from = models.asked.length;
  const session = open(streamed, `${JSON.stringify(question)}\n`);
  const output = new Response(session.stdout).text();
  try {
    await eventually(
      { what: "the first turn", withinMs: 60_000 },
      () => Promise.resolve(models.asked.slice(from)),
      (asked) => asked.some(({ isLast }) => isLast),
    );
    const took = await wakeOften(scene, 20);
    assertEquals(models.asked.slice(from).filter(({ isWake }) => isWake).length, 20);
    tried(`Claude Code ${versions.claude} by its hook: ${figures(took)}`);
  } catch (cause) {
    session.kill("SIGTERM");
    throw new Error(`It printed: ${(await output).slice(-4000)}`, { cause });
  }
  await keys?.close();
  await session.status;
  await output;
  await eventually(
    { what: "the end of its hook", withinMs: 60_000 },
    () => runningIn(folder),
    (count) => count === 0,
  );
});

testWhen(ready, "an idle session of Codex gets a turn for each message", async () => {
  await using scene = await openScene();
  const { home: { folder }, models, env } = scene;
  const codexHome = `${folder}/codex`;
  await Deno.mkdir(codexHome);
  const config = `
model = "stub"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.stub]
name = "stub"
base_url = "${models.url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
[projects."${folder}/work"]
trust_level = "trusted"
[mcp_servers.static]
command = "${folder}/bin/static"
args = ["mcp", "--agent", "bot"]
env_vars = ${JSON.stringify(Object.keys(env))}
`;
  await Deno.writeTextFile(`${codexHome}/config.toml`, config);
  const path = `${programs.codex.slice(0, programs.codex.lastIndexOf("/"))}:${env["PATH"]}`;
  const all = { ...env, PATH: path, CODEX_HOME: codexHome, STUB_KEY: "x" };
  await using terminal = new HarnessTerminal("codex", { cwd: `${folder}/work`, env: all });
  await using _ = { [Symbol.asyncDispose]: () => endDaemons(codexHome) };
  try {
    await eventually(
      { what: "Codex at its terminal", withinMs: 60_000 },
      () => Promise.resolve(terminal.screen),
      (screen) => screen.includes("Ask"),
    );
    await terminal.type("hello");
    // wait: keys in one burst are a paste, in which a return is a new line
    await new Promise((resolve) => setTimeout(resolve, 500));
    await terminal.type("\r");
    const thread = await eventually(
      { what: "a session", withinMs: 60_000 },
      () => threadIn(`${codexHome}/sessions`),
      (id) => id !== undefined,
    );
    await eventually(
      { what: "the first turn" },
      () => Promise.resolve(models.asked.length),
      (count) => count > 0,
    );
    await using waking = new Wakes(all, ["codex", "--thread", thread ?? ""]);
    const took = await wakeOften(scene, 50);
    tried(`Codex ${versions.codex}: ${figures(took)}`);
    const queued = waking.lines.filter((line) => !line.startsWith("Queued message"));
    assertEquals(queued, [], await waking.end());
  } catch (cause) {
    throw new Error(`The terminal shows: ${terminal.screen.slice(-4000)}`, { cause });
  }
  assert(models.asked.some(({ body }) => body.includes(sentence)));
});

/** How many hooks wait in this home. */
async function runningIn(home: string): Promise<number> {
  let count = 0;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string): Promise<string> =>
      Deno.readTextFile(`/proc/${name}/${file}`).catch(() => "");
    if (!(await read("environ")).includes(`HOME=${home}\0`)) continue;
    if ((await read("cmdline")).includes("wake\0hook")) count++;
  }
  return count;
}

/** The name of a session's file ends with its id. */
async function threadIn(folder: string): Promise<string | undefined> {
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  for (const { name, isDirectory } of entries) {
    if (isDirectory) return await threadIn(`${folder}/${name}`);
    const [id] = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl$)/.exec(name) ?? [];
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Codex leaves processes behind: those whose program stands in its folder, by their ids. */
async function endDaemons(codexHome: string): Promise<void> {
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const run = await Deno.readLink(`/proc/${name}/exe`).catch(() => "");
    if (run.startsWith(codexHome)) Deno.kill(Number(name), "SIGKILL");
  }
}
