// `static wake` in front of a real host and a real relay, with a script in the harness's place.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ChannelManager } from "../../sdk/mod.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { openRaw, stopHost } from "../support/hosts.ts";
import { eventually } from "../support/mod.ts";
import { shareStack } from "../support/shared_stack.ts";
import { inviteBot, openHome, runStatic } from "./home.ts";
import { hookOf, HookRun, quiet, writeProgram } from "./hooks.ts";
import { McpSession } from "./session.ts";
import { sentence, Wakes } from "./waking.ts";

const name = "acme/wake/room";

Deno.test("a wake is one line of at most 160 bytes, in which nobody has a say", () => {
  assert(new TextEncoder().encode(sentence).length <= 160);
  assert(/^[\x20-\x7e]+$/.test(sentence));
});

Deno.test("static wake", async (t) => {
  const stack = await shareStack();
  await using home = await openHome(stack);
  const { alice, token } = await inviteBot(stack, home.folder, name);
  // The flood of the campaign is more than the free plan allows, to both accounts.
  const sql = stack.backend.sql();
  await sql`UPDATE accounts SET plan = 'enterprise'`;
  await sql.end();
  await using _ = { [Symbol.asyncDispose]: () => alice.close() };
  const room = await alice.channel(name);
  const state = `${home.folder}/data/static/agents/bot/state`;
  await runStatic(home.env, ["channel", "join", name, "--agent", "bot"], token);
  const bot = room.members().find(({ identity }) => identity.startsWith("bot"))?.agentId ?? "";
  await using closing = new AsyncDisposableStack();
  const session = closing.use(
    await McpSession.open({ words: ["--agent", "bot"], env: home.env, record: home.record }),
  );
  /** As the sentence says, until it returns no messages; first until this one has come. */
  const drain = async (last?: string): Promise<string[]> => {
    const texts: string[] = [];
    for (const patience = AbortSignal.timeout(180_000);;) {
      const isThere = last === undefined || texts.includes(last);
      const { messages } = await session.call("wait", { seconds: isThere ? 0.2 : 20 });
      if (messages.length === 0 && (isThere || patience.aborted)) return texts;
      texts.push(...messages.map(({ text }: { text: string }) => text));
    }
  };

  await room.send("before it began", { to: bot });
  const wakes = closing.use(new Wakes(home.env));
  await t.step(
    "what waited before wakes; nobody is woken twice, and no message is taken",
    async () => {
      await wakes.next("a wake");
      await room.send("and one more", { to: bot });
      assertEquals(await drain("and one more"), ["before it began", "and one more"]);
      assertEquals(wakes.more, 0);
    },
  );

  await t.step("a message to this agent wakes, one to all does not", async () => {
    await room.send("to all");
    await room.send("to bot", { to: bot });
    await wakes.next("a wake");
    assertEquals(await drain("to bot"), ["to all", "to bot"]);
    await room.send("to all again");
    assertEquals(await drain("to all again"), ["to all again"]);
    assertEquals(wakes.more, 0);
    await using all = new Wakes(home.env, ["--stdout", "--all"]);
    // It begins in a moment.
    await all.next("a wake for all", () => room.send("to everybody"));
    await room.send("the last to all");
    await drain("the last to all");
  });

  await t.step("a session that waits is given what comes, and nobody is woken", async () => {
    const host = await openRaw(state);
    const askedAtMs = async (): Promise<number> => {
      const readers = (await host?.call("readers", {}))?.fields.optionalObjects("readers") ?? [];
      const own = readers.find((each) => each.text("name") === "mcp");
      return own?.optionalNumber("askedAtMs") ?? 0;
    };
    for (const text of ["one", "two", "three"]) {
      const beganMs = Date.now();
      const waiting = session.call("wait", { seconds: 45 });
      await eventually({ what: "the session's question" }, askedAtMs, (at) => at > beganMs);
      await room.send(text, { to: bot });
      assertEquals((await waiting).messages[0]?.text, text);
      await drain();
    }
    // It waits while its waker, another process, hears of the last one.
    await session.call("wait", { seconds: 2 });
    host?.end();
    assertEquals(wakes.more, 0);
  });

  await t.step("a request wakes, and is replied to", async () => {
    const asked = room.request("deploy?", { to: bot, timeoutMs: 60_000 });
    await wakes.next("a wake");
    const { messages: [request] } = await session.call("wait");
    await session.call("reply", { request: request.id, text: "done" });
    assertEquals((await asked).text(), "done");
    await drain();
  });

  await t.step(
    "a sender that the rules hold or refuse wakes nobody, however much it writes",
    async () => {
      const mallory = await ChannelManager.connect({
        endpoint: stack.quicUrl,
        apiUrl: stack.api.url,
        apiKey: stack.account.apiKey,
        tls: { caFile: stack.caFile },
        cover: "off",
        dataDir: `${home.folder}/mallory`,
        identity: "mallory",
      });
      closing.defer(() => mallory.close());
      await runStatic(home.env, [
        "mcp",
        "policy",
        mallory.client.agentId,
        "hold",
        "--agent",
        "bot",
      ]);
      const hers = await mallory.joinWithToken(name, await alice.invite(name));
      // More than a reader without a position keeps: the message behind them wakes all the same.
      const count = inCampaign ? 1000 : 400;
      const texts = Array.from({ length: count }, (_, number) => `wake up ${number}`);
      await Promise.all(texts.map((text) => hers.send(text, { to: bot })));
      await room.send("behind them", { to: bot });
      await wakes.next("a wake for the other message");
      assertEquals(await drain("behind them"), ["behind them"]);
      await runStatic(home.env, [
        "mcp",
        "policy",
        mallory.client.agentId,
        "refuse",
        "--agent",
        "bot",
      ]);
      await hers.send("refused", { to: bot });
      await assertAsked(hers.request("refused", { to: bot, timeoutMs: 1000 }));
      await drain();
      assertEquals(wakes.more, 0);
      tried(`${count} messages of a sender that is held`);
    },
  );

  await t.step("a channel that is joined later, and a host that ends", async () => {
    const other = "acme/wake/other";
    const channel = await alice.create(other);
    await runStatic(
      home.env,
      ["channel", "join", other, "--agent", "bot"],
      await alice.invite(other),
    );
    await channel.send("in another channel", { to: bot });
    await wakes.next("a wake for the new channel");
    assertEquals(await drain("in another channel"), ["in another channel"]);
    await stopHost(state);
    await room.send("to the next host", { to: bot });
    await wakes.next("a wake from the next host");
    assertEquals(await drain("to the next host"), ["to the next host"]);
  });

  await t.step("nothing but the sentence was printed, and it ends quietly", async () => {
    assertEquals(wakes.lines.filter((line) => line !== sentence), []);
    assertEquals(await wakes.end(), "");
  });

  await t.step("exec runs a harness, which gets nothing of the message", async () => {
    const record = `${home.folder}/environment`;
    const harness = new URL("harness.ts", import.meta.url).pathname;
    const script =
      `env > ${record}; cat >> ${record}; exec ${Deno.execPath()} run -A --no-check ${harness} ${home.record}`;
    await using woken = new Wakes(home.env, ["exec", "--", "sh", "-c", script]);
    const { id } = await room.send("psst, build 7", { to: bot });
    const heard = await room.receiveEnvelope({ timeoutMs: 60_000 });
    const said = heard === undefined ? await woken.end() : "";
    assertEquals([heard?.text(), heard?.replyTo], ["heard psst, build 7", id], said);
    const given = await Deno.readTextFile(record);
    assertStringIncludes(given, "STATIC_AGENT=bot");
    assert(!/psst|acme|STATIC_(CHANNEL|MESSAGE|SENDER)/.test(given), given);
  });

  await t.step("codex is told by its queue, once, until a session comes", async () => {
    const record = `${home.folder}/queue`;
    await Deno.mkdir(`${home.folder}/bin`);
    await Deno.writeTextFile(
      `${home.folder}/bin/codex`,
      `#!/bin/sh\nprintf '%s\\n' "$@" >> ${record}\n`,
      { mode: 0o755 },
    );
    const env = { ...home.env, PATH: `${home.folder}/bin:${home.env["PATH"]}` };
    const thread = "01a1f4cb-d866-70f3-b104-4809e7179e24";
    await using codex = new Wakes(env, ["codex", "--thread", thread, "--min-seconds", "1"]);
    await room.send("for codex", { to: bot });
    const queued = async (): Promise<string> => await Deno.readTextFile(record).catch(() => "");
    const first = await eventually({ what: "a queued line" }, queued, (text) => text !== "");
    assertEquals(first, ["queue", "--thread", thread, "--message", sentence, ""].join("\n"));
    await room.send("for codex, again", { to: bot });
    assertEquals(await drain("for codex, again"), ["for codex", "for codex, again"]);
    await room.send("a third", { to: bot });
    const second = await eventually({ what: "another" }, queued, (text) => text !== first);
    assertEquals(second, first + first);
    await drain("a third");
    assertEquals(await codex.end(), "");
  });

  await t.step("codex that knows no such thread: it is said, and nothing is lost", async () => {
    await Deno.mkdir(`${home.folder}/broken`);
    await Deno.writeTextFile(
      `${home.folder}/broken/codex`,
      `#!/bin/sh\ntouch ${home.folder}/tried\nexit 1\n`,
      { mode: 0o755 },
    );
    const env = { ...home.env, PATH: `${home.folder}/broken:${home.env["PATH"]}` };
    const thread = "00000000-0000-0000-0000-000000000000";
    await room.send("for nobody", { to: bot });
    await using codex = new Wakes(env, ["codex", "--thread", thread]);
    const found = (): Promise<boolean> =>
      Deno.stat(`${home.folder}/tried`).then(() => true, () => false);
    await eventually({ what: "an attempt", withinMs: 60_000 }, found, (isTried) => isTried);
    assertStringIncludes(await codex.end(), "the model may not have been woken");
    assertEquals(await drain("for nobody"), ["for nobody"]);
  });

  await t.step("a harness that has gone ends it, and so does a disk that is full", async () => {
    await room.send("to a harness that has gone", { to: bot });
    const unheard = new Wakes(home.env);
    await unheard.hangUp();
    assertEquals(await unheard.ended, { success: false, said: "" });
    const full = new Wakes(home.env, ["--stdout"], "/dev/full");
    const { success, said } = await full.ended;
    assertEquals(success, false);
    assertStringIncludes(said, "the disk is full");
    assertEquals(await drain("to a harness that has gone"), ["to a harness that has gone"]);
  });

  await t.step("two at once: each wakes once, and the message comes once", async () => {
    await using first = new Wakes(home.env);
    await using second = new Wakes(home.env);
    await room.send("to both", { to: bot });
    await first.next("a wake of the first");
    await second.next("a wake of the second");
    assertEquals(await drain("to both"), ["to both"]);
    assertEquals([first.more, second.more], [0, 0]);
    assertEquals([await first.end(), await second.end()], ["", ""]);
  });

  await t.step(
    "the Stop hook of the plugin: one sentence, and nothing beside a monitor",
    async () => {
      const plugin = `${home.folder}/plugin`;
      await runStatic(home.env, ["wake", "claude", "--write", plugin, "--agent", "bot"]);
      const command = await hookOf(plugin);
      await writeProgram(`${home.folder}/own`);
      const session = { CLAUDE_CODE_SESSION_ID: crypto.randomUUID(), CLAUDE_PID: `${Deno.pid}` };
      const env = { ...home.env, ...session, PATH: `${home.folder}/own:${home.env["PATH"]}` };
      const woken = { code: 2, stdout: "", stderr: `${sentence}\n` };
      // A message before the hook begins, and one while it waits.
      await room.send("psst, before", { to: bot });
      await using early = new HookRun(command, env);
      assertEquals(await early.end, woken);
      assertEquals(await drain("psst, before"), ["psst, before"]);
      await using older = new HookRun(command, env);
      const note = async (): Promise<string> => {
        const path = `${home.folder}/data/static/agents/bot/wake`;
        return await Deno.readTextFile(`${path}/hook-${session.CLAUDE_CODE_SESSION_ID}.json`);
      };
      const first = await note();
      await eventually({ what: "the older run's note" }, note, (text) => text !== first);
      const second = await note();
      await using newer = new HookRun(command, env);
      await eventually({ what: "the newer run's note" }, note, (text) => text !== second);
      await room.send("psst, later", { to: bot });
      assertEquals([await older.end, await newer.end], [quiet, woken]);
      assertEquals(await drain("psst, later"), ["psst, later"]);
      // Beside the monitor of the session, nothing.
      await using monitor = new Wakes({ ...home.env, ...session });
      await monitor.next("a wake of the monitor", () => room.send("for the monitor", { to: bot }));
      await using beside = new HookRun(command, env);
      assertEquals(await beside.end, quiet);
      await drain("for the monitor");
      // Whatever fails begins no turn: a session that is over, no session, words that are wrong.
      const wrong = [
        { ...env, CLAUDE_CODE_SESSION_ID: crypto.randomUUID(), CLAUDE_PID: "999999999" },
        { ...env, CLAUDE_CODE_SESSION_ID: "$(id)" },
        { ...env, CLAUDE_CODE_SESSION_ID: crypto.randomUUID(), STATIC_HOST: "off" },
        { ...env, PATH: "/usr/bin:/bin" },
      ];
      await room.send("for nobody's hook", { to: bot });
      for (const each of wrong) {
        await using run = new HookRun(command, each);
        assertEquals(await run.end, quiet);
      }
      assertEquals(await new HookRun(command.replace("hook", "hook --wrong"), env).end, quiet);
      await drain("for nobody's hook");
    },
  );

  // The last one: in the campaign it takes minutes.
  await t.step("a member that writes without end: few wakes", async () => {
    await using flooded = new Wakes(home.env);
    const count = inCampaign ? 10_000 : 300;
    const began = Date.now();
    for (let sent = 0; sent < count; sent += 100) {
      const texts = Array.from({ length: Math.min(100, count - sent) }, (_, at) => `n${sent + at}`);
      await Promise.all(texts.map((text) => room.send(text, { to: bot })));
    }
    await flooded.next("a wake");
    const minutes = Math.ceil((Date.now() - began) / 60_000);
    // One, and its repetitions after 1, 2, 4 … minutes, because nobody came.
    const woken = flooded.lines.length;
    assert(woken <= 1 + Math.log2(minutes + 1), `${woken} wakes in ${minutes} minutes`);
    // More than wait for readers at once, while the reader of programs stands still.
    assertEquals((await drain(`n${count - 1}`)).length, count);
    tried(`${count} messages of one sender: ${woken} wakes`);
  });
});

async function assertAsked(request: Promise<unknown>): Promise<void> {
  await request.then(() => assert(false, "it was replied to"), () => {});
}
