// The socket way in: one host that the first program starts, and every other program finds, against
// a real stack.
import { createServer } from "node:net";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ChannelManager, type ConnectOptions, StaticClient, StaticError } from "../../sdk/mod.ts";
import { connectAgent } from "../../sdk/testing/agents.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { bogusCommit } from "../support/scenario/bad_commits.ts";
import { operations } from "../../proto/host/operations.ts";
import { encodeFrame, HostFrameReader } from "../../sdk/testing/host.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { eventually } from "../support/mod.ts";
import { shareStack } from "../support/shared_stack.ts";
import type { SharedStack } from "../support/stack.ts";
import { ended, type HostsPlace, openRaw, stopHost, withHosts } from "../support/hosts.ts";

const name = "acme/ops/deploy";
const racers = inCampaign ? 20 : 4;

Deno.test("programs share one agent through its host", async (t) => {
  const stack = await shareStack();
  await using place = await withHosts(stack);
  const alice: ConnectOptions = place.options("alice");
  const bob: ConnectOptions = place.options("bob");

  await t.step("the first one starts it, the surface is the SDK's own", async () => {
    await using owner = await ChannelManager.connect(alice);
    await using again = await StaticClient.connect(alice);
    assertEquals(owner.client.agentId, again.agentId);
    const channel = await owner.create(name);
    assertEquals(channel.members().map(({ identity }) => identity), ["alice"]);
    const state = (): Promise<string> => Promise.resolve(channel.health().state);
    await eventually({ what: "the channel" }, state, (each) => each === "ok");
    // However often it is opened, each event comes once.
    const joins: string[] = [];
    const watching = (async (): Promise<void> => {
      for await (const event of channel.events()) {
        if (event.type === "member_joined") joins.push(event.member.identity);
      }
    })();
    for (let opened = 0; opened < 3; opened++) await owner.channel(name);
    await using guest = await ChannelManager.connect(bob);
    const joined = await guest.joinWithToken(name, await owner.invite(name));
    assertEquals(joined.fingerprint().length, 47);
    const { id } = await joined.send({ json: { hello: "alice" } });
    const envelope = await (await again.channel(name)).receiveEnvelope({ timeoutMs: 60_000 });
    assertEquals([envelope?.id, envelope?.json(), envelope?.sender.identity], [id, {
      hello: "alice",
    }, "bob"]);
    const serving = joined.serve((request) => `you said ${request.text()}`);
    const reply = await channel.request("ping", { to: guest.client.agentId, timeoutMs: 60_000 });
    assertEquals(reply.text(), "you said ping");
    await serving.stop();
    assertEquals(joins, ["bob"]);
    await owner.close();
    await watching;
  });
  await t.step("a program sees at once what it has done to a channel", () => changes(place));
  await t.step("a program sees whom a recovery leaves out, and says who goes", () => anew(place));
  await t.step(
    "a host that is killed is replaced, and loops and sends go on where they were",
    () => takeOver(place),
  );
  await t.step(
    "durable readers have positions of their own, also after a crash of the host",
    () => readers(place),
  );
  await t.step(
    "what a program works on when the host dies is acknowledged at the next one",
    () => working(place),
  );
  await t.step(
    "a host that is stopped has let go of its directory, and its programs go on",
    () => stopping(place),
  );
  await t.step("no secret is in arguments or environment of the host", () => secrets(place, stack));
  await t.step(
    "another user cannot reach it, and a folder that others could write to is refused",
    () => strangers(place),
  );
  await t.step(
    "a host of another version goes when it is idle, and stays while others use it",
    () => versions(place),
  );
  await t.step(`${racers} programs at once start one host`, () => race(place));
  await t.step(
    "a directory that another program holds alone is named, with what to do",
    () => embedded(place),
  );
});

async function killHost(dataDir: string): Promise<void> {
  const connection = await openRaw(dataDir);
  const pid = (await connection?.hello)?.number("pid") ?? 0;
  Deno.kill(pid, "SIGKILL");
  await ended(pid);
}

async function working(place: HostsPlace): Promise<void> {
  await using alice = await StaticClient.connect(place.options("alice"));
  await using bob = await StaticClient.connect(place.options("bob"));
  const [mine, theirs] = [await alice.channel(name), await bob.channel(name)];
  const connections: string[] = [];
  const watching = (async (): Promise<void> => {
    for await (const { type } of theirs.events()) {
      if (/connected$/.test(type)) connections.push(type);
    }
  })();
  const options = { as: "worker", ack: "manual" } as const;
  const worker = theirs.envelopes(options);
  for (const text of ["first", "second"]) await mine.send(text);
  let first = (await worker.next()).value;
  // Messages of the steps before.
  for (; first !== undefined && first.text() !== "first"; first = (await worker.next()).value) {
    await first.ack();
  }
  const second = (await worker.next()).value;
  assertEquals([first?.text(), second?.text()], ["first", "second"]);
  await killHost(place.options("bob").dataDir);
  await first?.ack();
  await mine.send("third");
  assertEquals((await worker.next()).value?.text(), "third");
  // A loop that has ended may still be at work on what it was given.
  await worker.return?.();
  await second?.ack();
  const again = theirs.envelopes(options);
  const third = (await again.next()).value;
  assertEquals(third?.text(), "third");
  await third?.ack();
  assertEquals(connections.slice(0, 2), ["disconnected", "connected"], "who listens is told");
  await bob.close();
  await watching;
}

async function stopping(place: HostsPlace): Promise<void> {
  const options = place.options("bob");
  await using alice = await StaticClient.connect(place.options("alice"));
  {
    const connection = await openRaw(options.dataDir);
    await connection?.call("stop");
    await using alone = await StaticClient.connect({ ...options, host: "off" });
    assert(alone.agentId.length > 0);
  }
  await using bob = await StaticClient.connect(options);
  const reader = (await bob.channel(name)).envelopes({ tail: true });
  const next = reader.next();
  await eventually(
    { what: "the program at its host" },
    async () => (await (await openRaw(options.dataDir))?.call("status"))?.fields.number("programs"),
    (programs) => programs === undefined || programs > 1,
  );
  await (await openRaw(options.dataDir))?.call("stop");
  const sending = await alice.channel(name);
  // A tail sees what comes from now on: until the next host is up, nothing does.
  let seen = false;
  void next.then(() => seen = true);
  while (!seen) await sending.send("anybody there?");
  await reader.return?.();
}

async function changes(place: HostsPlace): Promise<void> {
  await using owner = await ChannelManager.connect(place.options("alice"));
  await using guest = await ChannelManager.connect(place.options("bob"));
  const changed = "acme/ops/changed";
  const channel = await owner.create(changed);
  await guest.joinWithToken(changed, await owner.invite(changed));
  const { agentId } = guest.client;
  const owners = (): string[] =>
    channel.members().flatMap(({ identity, owner }) => owner ? [identity] : []).sort();
  await channel.promote(agentId);
  assertEquals(owners(), ["alice", "bob"]);
  await channel.demote(agentId);
  assertEquals(owners(), ["alice"]);
  await channel.setPolicy({ posting: "owners" });
  assertEquals(channel.policy().posting, "owners");
  const self = { replaces: owner.client.agentId };
  await assertRejects(() => owner.invite(changed, self), StaticError, "itself");
  await assertRejects(() => channel.addMember(new Uint8Array(1), self), StaticError, "itself");
  // cast: of a program without types
  await assertRejects(
    () => owner.inviteLink(changed, self as object),
    StaticError,
    "replaces nobody",
  );
  await channel.removeMember(agentId);
  assertEquals(channel.members().map(({ identity }) => identity), ["alice"]);
}

/** A member with a modified client stops a channel, beside one that it has let in. */
async function anew(place: HostsPlace): Promise<void> {
  const stopped = "acme/ops/stopped";
  await using owner = await ChannelManager.connect(place.options("alice"));
  await using guest = await ChannelManager.connect(place.options("bob"));
  const channel = await owner.create(stopped);
  const { host: _, ...alone } = place.options("mallory");
  const agent = await connectAgent(alone, platform);
  const mallory = await ChannelManager.over(agent);
  try {
    await mallory.joinWithToken(stopped, await owner.invite(stopped));
    await guest.joinWithToken(stopped, await mallory.invite(stopped));
    await eventually(
      { what: "all" },
      () => Promise.resolve(channel.members()),
      (members) => members.length === 3,
    );
    await agent.parts.session.call("SendCommit", await bogusCommit(agent, stopped));
  } finally {
    await mallory.close();
  }
  const isOffered = (): Promise<boolean> => Promise.resolve(channel.health().recoverable === true);
  await eventually({ what: "an offer", withinMs: 90_000 }, isOffered, (offered) => offered);
  const { agentId } = guest.client;
  const { blamed, leftOut, choiceNeeded, members } = await channel.previewRecovery();
  assertEquals([leftOut.map((each) => each.agentId), choiceNeeded, members], [
    [blamed, agentId],
    true,
    3,
  ]);
  assertEquals((await channel.previewRecovery({ without: [] })).leftOut.length, 1);
  const refused = await assertRejects(() => channel.recover(), StaticError, "previewRecovery()");
  assertEquals([refused.code, refused.members], ["choice_needed", [agentId]]);
  await assertRejects(
    () => channel.recover({ without: [], keep: [agentId] }),
    StaticError,
    "not both",
  );
  await channel.recover({ without: [] });
  assertEquals(
    channel.members().map((member) => member.agentId).toSorted(),
    [owner.client.agentId, agentId].toSorted(),
  );
}

async function takeOver(place: HostsPlace): Promise<void> {
  await using alice = await StaticClient.connect(place.options("alice"));
  await using bob = await StaticClient.connect(place.options("bob"));
  const [mine, theirs] = [await alice.channel(name), await bob.channel(name)];
  const reader = theirs.envelopes();
  const texts: string[] = [];
  const reading = (async (): Promise<void> => {
    while (texts.at(-1) !== "last") texts.push((await reader.next()).value?.text() ?? "end");
    await reader.finish();
  })();
  await mine.send("one");
  await eventually(
    { what: "the first" },
    () => Promise.resolve(texts.length),
    (count) => count === 1,
  );
  await killHost(place.options("bob").dataDir);
  await mine.send("two");
  const sending = mine.send("three");
  await killHost(place.options("alice").dataDir);
  await sending;
  await mine.send("last");
  await reading;
  assertEquals(texts, ["one", "two", "three", "last"]);
}

async function readers(place: HostsPlace): Promise<void> {
  await using alice = await StaticClient.connect(place.options("alice"));
  await using bob = await StaticClient.connect(place.options("bob"));
  const [mine, theirs] = [await alice.channel(name), await bob.channel(name)];
  const watcher = theirs.envelopes({ as: "watcher" });
  for (const text of ["1", "2", "3"]) await mine.send(text);
  const seen: string[] = [];
  while (seen.length < 3) seen.push((await watcher.next()).value?.text() ?? "end");
  await watcher.finish();
  await killHost(place.options("bob").dataDir);
  const reader = theirs.envelopes();
  const later: string[] = [];
  while (later.length < 3) later.push((await reader.next()).value?.text() ?? "end");
  await reader.finish();
  assertEquals([seen, later], [["1", "2", "3"], ["1", "2", "3"]]);
  await mine.send("4");
  assertEquals((await theirs.envelopes({ as: "watcher" }).next()).value?.text(), "4");
}

async function secrets(place: HostsPlace, { account }: SharedStack): Promise<void> {
  const passphrase = `passphrase-${crypto.randomUUID()}`;
  const options = { ...place.options("frank"), passphrase };
  await using client = await StaticClient.connect(options);
  await client.createChannel("acme/hosts/secret");
  const connection = await openRaw(options.dataDir);
  const pid = (await connection?.hello)?.number("pid");
  const files = [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`, `${options.dataDir}/host/log`];
  const shown = (await Promise.all(files.map((path) => Deno.readTextFile(path)))).join("\n");
  assert(shown.includes("socket"));
  // Everything that a program can ask a host for.
  const said: unknown[] = [(await connection?.hello)?.all];
  for (const op of Object.keys(operations)) {
    if (["stop", "close", "leave", "closeChannel", "receive", "waitForMember"].includes(op)) {
      continue;
    }
    const asked = connection?.call(op, { channel: "acme/hosts/secret", dataDir: options.dataDir });
    said.push(
      await asked?.then(
        ({ fields, bytes }) => [fields.all, new TextDecoder().decode(bytes)],
        String,
      ),
    );
  }
  assert(said.length > 20);
  for (const secret of [account.apiKey, passphrase]) {
    assert(!`${shown}${JSON.stringify(said)}`.includes(secret), "a secret was shown");
  }
  connection?.end();
}

async function strangers(place: HostsPlace): Promise<void> {
  const { dataDir } = place.options("alice");
  await using _ = await StaticClient.connect(place.options("alice"));
  const { mode } = await Deno.stat(`${dataDir}/host`);
  assertEquals(((mode ?? 0) & 0o777).toString(8), "700");
  if (Deno.uid() === 0) {
    await Deno.chmod(place.folder, 0o755);
    await Deno.chmod(dataDir, 0o755);
    const code =
      `require("net").connect("${dataDir}/host/socket").on("error", (e) => console.log(e.code)).on("connect", () => console.log("in"))`;
    const { stdout } = await new Deno.Command("node", {
      args: ["-e", code],
      uid: 65534,
      gid: 65534,
    }).output();
    assertEquals(new TextDecoder().decode(stdout).trim(), "EACCES");
  }
  const loose = place.options("loose");
  await Deno.mkdir(`${loose.dataDir}/host`, { recursive: true });
  await Deno.chmod(`${loose.dataDir}/host`, 0o777);
  const refused = await assertRejects(() => StaticClient.connect(loose), StaticError);
  assertEquals(refused.code, "not_allowed");
  await Deno.remove(`${loose.dataDir}/host`);
  await Deno.symlink(place.folder, `${loose.dataDir}/host`);
  assertEquals(
    (await assertRejects(() => StaticClient.connect(loose), StaticError)).code,
    "not_allowed",
  );
}

async function versions(place: HostsPlace): Promise<void> {
  const options = place.options("carol");
  const older = await fakeHost(options.dataDir, true);
  {
    await using client = await StaticClient.connect(options);
    assert(client.agentId.length > 0);
  }
  assertEquals(older.asked, ["stop"]);
  await stopHost(options.dataDir);
  const busy = await fakeHost(options.dataDir, false);
  const refused = await assertRejects(() => StaticClient.connect(options), StaticError);
  assertEquals(refused.code, "unsupported_version");
  assert(refused.message.includes("0.0.1") && refused.message.includes("static host stop"));
  busy.close();
}

/** A host of a version that never was. */
async function fakeHost(
  dataDir: string,
  goes: boolean,
): Promise<{ asked: string[]; close: () => void }> {
  await Deno.mkdir(`${dataDir}/host`, { recursive: true, mode: 0o700 });
  const asked: string[] = [];
  const server = createServer((socket) => {
    const reader = new HostFrameReader();
    socket.on("error", () => {});
    socket.write(
      encodeFrame({ event: "hello", protocol: 1, sdk: "0.0.1", runtime: "deno 1", pid: 1 }),
    );
    socket.on("data", (chunk: Uint8Array) => {
      for (const { header } of reader.push(chunk)) {
        asked.push(String(header["op"]));
        socket.write(encodeFrame({ id: header["id"], ok: { stopping: goes } }));
        if (goes) {
          server.close();
          socket.end();
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(`${dataDir}/host/socket`, resolve));
  return { asked, close: () => server.close() };
}

async function race(place: HostsPlace): Promise<void> {
  const options = place.options("dave");
  const script = new URL("./program.ts", import.meta.url).pathname;
  const args = ["run", "-A", "--quiet", script, JSON.stringify(options)];
  const programs = Array.from(
    { length: racers },
    () =>
      new Deno.Command(Deno.execPath(), {
        args,
        stdin: "piped",
        stdout: "piped",
        stderr: "inherit",
      }).spawn(),
  );
  const ids = await Promise.all(programs.map(async ({ stdout }) => {
    for await (const chunk of stdout) return new TextDecoder().decode(chunk).trim();
    return "nothing";
  }));
  assertEquals(new Set(ids).size, 1);
  const connection = await openRaw(options.dataDir);
  assertEquals((await connection?.call("status"))?.fields.number("programs"), racers + 1);
  tried(`${racers} programs that start one host`);
  connection?.end();
  for (const { stdin, status } of programs) {
    await stdin.close();
    await status;
  }
}

async function embedded(place: HostsPlace): Promise<void> {
  const options = place.options("erin");
  await using _ = await StaticClient.connect({ ...options, host: "off" });
  const refused = await assertRejects(() => StaticClient.connect(options), StaticError);
  assertEquals(refused.code, "store_locked");
  assert(refused.message.includes('host: "auto"'));
}
