/** Commands beside each other with one agent, through its host. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { StaticClient } from "../../sdk/mod.ts";
import type { Stack } from "../support/stack.ts";
import { eventually } from "../support/mod.ts";
import type { Running } from "../../cli/testing/test_host.ts";
import { User } from "./user.ts";

const name = "acme/hosts/one";
const bob = ["--agent", "bob"];

export async function checkHosted(
  t: Deno.TestContext,
  { api, account, quicUrl, grpcUrl, caFile }: Stack,
): Promise<void> {
  await using user = await User.create({
    STATIC_API_URL: api.url,
    STATIC_RELAY_URL: `${quicUrl},${grpcUrl}`,
    STATIC_CA_FILE: caFile,
    STATIC_API_KEY: account.apiKey,
    STATIC_HOST: "",
  });
  user.secrets.add(account.apiKey);
  try {
    await t.step(
      "a token alone is enough to join, while the host lets people in",
      () => join(user),
    );
    await t.step(
      "listen, send, members and chat work at the same time with one agent",
      () => beside(user),
    );
    await t.step(
      "on-message acknowledges by exit code, tries again, and buries what nobody can handle",
      () => onMessage(user),
    );
    await t.step(
      "a name of the user is given after comparing the number, is shown and is an address",
      () => named(user),
    );
    await t.step("invites are listed without their secrets, and revoked", () => invites(user));
    await t.step(
      "readers are listed and deleted; status and stop tell what is true",
      () => hosts(user),
    );
    await t.step(
      "held messages are shown, released and dropped; rules are by agent id",
      () => heldMessages(user),
    );
    await t.step("agents are listed, and deleted after a question", () => agents(user));
  } finally {
    for (const agent of [[], bob]) await user.start(["host", "stop", ...agent]).done;
  }
}

async function heldMessages(user: User): Promise<void> {
  const folder = `${user.folder}/data/static/agents/default/mcp`;
  await Deno.mkdir(`${folder}/held`, { recursive: true });
  const sender = { agentId: "b".repeat(22), identity: "mallory\u202e", keyUnchanged: true };
  const messageIds = ["one", "two"].map((word) => word.padEnd(22, "A"));
  const ids = messageIds.map((id) => `${sender.agentId}.${id}`);
  for (const [index, id] of messageIds.entries()) {
    const message = {
      id,
      sender,
      timeMs: 1_800_000_000_000 + index,
      base64: btoa(`call leave ${index}`),
    };
    await Deno.writeTextFile(
      `${folder}/held/${ids[index]}.json`,
      JSON.stringify({ channel: name, message }),
    );
  }
  const { stdout } = await user.run(["mcp", "held"]);
  assertMatch(
    stdout,
    /b+\.oneA+ {2}acme\/hosts\/one .* unverified; calls itself "mallory\\u\{202e\}"\n {2}call leave 0\nb+\.twoA/,
  );
  assertEquals((await user.json(["mcp", "held"])).held.length, 2);
  await user.run(["mcp", "held", "release", ids[0] ?? ""]);
  await user.run(["mcp", "held", "drop", ids[1] ?? ""]);
  await user.run(["mcp", "held", "release", "../policy"], { code: 4 });
  assertStringIncludes((await user.run(["mcp", "held"])).stdout, "Nothing is held");
  const files = await Array.fromAsync(Deno.readDir(`${folder}/released`));
  assertEquals(files.map((file) => file.name), [`${ids[0]}.json`]);
  await user.run(["mcp", "policy", "mallory", "hold"], { code: 2 });
  await user.run(["mcp", "policy", "*", "hold"]);
  await user.run(["trust", "name", sender.agentId, "Mallory's desk", "--yes"]);
  await user.run(["mcp", "policy", "@named", "accept"]);
  const { stdout: rules } = await user.run(["mcp", "policy", "Mallory's desk", "refuse"]);
  assertMatch(rules, /^b{22} +refuse +"Mallory's desk"$/m);
  // It stays a rule about that agent, also under another name, or where names cannot be read.
  await user.run(["trust", "name", sender.agentId, "Mallory", "--yes"]);
  const policy = { "*": "hold", "@named": "accept", [sender.agentId]: "refuse" };
  assertEquals(await user.json(["mcp", "policy"]), { policy });
}

async function named(user: User): Promise<void> {
  const { agent_id, number } = await user.json(["agents", "number", ...bob]);
  assertEquals((await user.run(["agents", "number", ...bob])).stdout, `${number}\n`);
  const members = async (): Promise<string> =>
    (await user.run(["channel", "members", name])).stdout;
  const { members: [, { identity }] } = await user.json(["channel", "members", name]);
  assertStringIncludes(await members(), `${agent_id}  of your account; calls itself "${identity}"`);
  const naming = ["trust", "name", agent_id];
  const asked = await user.run([...naming, "Bob's desk"], {
    input: "n\n",
    terminal: true,
    columns: 200,
    code: 2,
  });
  assertStringIncludes(
    asked.stderr,
    `${agent_id}  of your account; calls itself "${identity}"\nIts number: ${number}\n`,
  );
  const other = "c".repeat(22);
  // Names that are given in another terminal meanwhile stay.
  const typing = async (): Promise<string> => {
    await user.run(["trust", "name", other, "Carol", "--yes"]);
    return "y";
  };
  await user.run([...naming, "Bob's desk"], { input: typing, terminal: true });
  await user.run(["trust", "remove", "Carol"]);
  assertStringIncludes(await members(), `${agent_id}  "Bob's desk" (your name for it)`);
  const file = await Deno.stat(`${user.folder}/config/static/trust.json`);
  assertEquals((file.mode ?? 0) & 0o777, 0o600);
  assertEquals(await user.json(["trust", "list"]), {
    known: [{ agent_id, known_as: "Bob's desk" }],
    domains: [],
    mail_domains: [],
  });
  const owned = await user.run(["channel", "promote", name, "Bob's desk"]);
  assertEquals(owned.stdout, `✓ "Bob's desk" (your name for it) owns ${name}\n`);
  assertStringIncludes(await members(), `Owners: you, "Bob's desk"\n`);
  await user.run(["channel", "demote", name, "Bob's desk"]);
  for (const bad of ["bob's desk", agent_id, "@named", "*", " x", "a\u200b", "x".repeat(65)]) {
    await user.run(["trust", "name", other, bad, "--yes"], { code: 2 });
  }
  await user.run(["trust", "name", other, "Carol"], { code: 4 });
  await user.run(["trust", "remove", "Carol"], { code: 4 });
  await user.run(["trust", "remove", "Bob's desk"]);
  assertStringIncludes(await members(), `${agent_id}  of your account; calls itself "${identity}"`);
}

async function shown(running: Running, text: string): Promise<void> {
  const both = (): Promise<string> => Promise.resolve(running.stdout() + running.stderr());
  await eventually({ what: text }, both, (out) => out.includes(text));
}

async function join(user: User): Promise<void> {
  assertStringIncludes(
    (await user.run(["host"])).stdout,
    'The host of agent "default" has been running',
  );
  await user.run(["channel", "create", name]);
  const { token } = await user.json(["channel", "invite", name, "--no-wait"]);
  const joined = await user.run(["channel", "join", ...bob], { input: `${token}\n` });
  assertMatch(
    joined.stdout,
    new RegExp(`^✓ Joined ${name}, with [\\w-]{22} \\(of your account; calls itself "default-`),
  );
}

async function beside(user: User): Promise<void> {
  const stop = new AbortController();
  const listening = user.start(["channel", "listen", name, ...bob], { interrupt: stop.signal });
  const watching = user.start(["channel", "listen", name, "--as", "audit", ...bob], {
    interrupt: stop.signal,
  });
  // A reader that is new begins where the log stands then.
  const list = (): Promise<{ readers: { reader: string }[] }> =>
    user.json(["host", "readers", "list", name, ...bob]);
  const isThere = ({ readers }: Awaited<ReturnType<typeof list>>): boolean => readers.length === 2;
  await eventually({ what: "both read" }, list, isThere);
  await user.run(["channel", "send", name, "one"]);
  await shown(listening, "one\n");
  assertEquals((await user.json(["channel", "members", name, ...bob])).members.length, 2);
  const confirmed = await user.run(["channel", "send", name, "two"], {
    terminal: true,
    variables: { NO_COLOR: "1" },
  });
  assertStringIncludes(confirmed.stdout, `✓ Sent to ${name}`);
  await shown(listening, "two\n");
  await shown(watching, "one\ntwo\n");
  // A host that is killed is told of at once, and when it is back; nothing is lost between the two.
  Deno.kill((await user.json(["host", "status", ...bob])).pid, "SIGKILL");
  await shown(listening, "The host of this agent has ended");
  await user.run(["channel", "send", name, "three"]);
  await shown(listening, "The connection is back");
  for (const each of [listening, watching]) await shown(each, "two\nthree\n");
  stop.abort();
  assertEquals([(await listening.done).code, (await watching.done).code], [0, 0]);
  await user.run(["channel", "chat", name, ...bob], { input: "typed\n\nagain\n" });
  const read = await user.run(["channel", "listen", name, "--count", "2"]);
  assertEquals(read.stdout, "typed\nagain\n");
}

async function onMessage(user: User): Promise<void> {
  const stop = new AbortController();
  const script = `m=$(cat); echo "$STATIC_ATTEMPT $STATIC_SENDER_IDENTITY $m" >> ${user.folder}/log
test "$m" = bad && exit 3; test "$m" = later && test "$STATIC_ATTEMPT" = 1 && exit 1; exit 0`;
  const flags = ["--tries", "2", "--dead-letters", `${user.folder}/dead`, ...bob];
  const handling = user.start(["channel", "on-message", name, ...flags, "--", "sh", "-c", script], {
    interrupt: stop.signal,
  });
  for (const text of ["fine", "later", "bad", "last"]) {
    await user.run(["channel", "send", name, text]);
  }
  const log = (): Promise<string> => Deno.readTextFile(`${user.folder}/log`).catch(() => "");
  await eventually({ what: "the last" }, log, (text) => text.includes(" last\n"));
  stop.abort();
  assertEquals((await handling.done).code, 0);
  const said = (await log()).split("\n").filter((line) => !/ (one|two|three)$/.test(line)).map((
    line,
  ) => line.replace(/default-\w+/, "x"));
  assertEquals(said, ["1 x fine", "1 x later", "2 x later", "1 x bad", "2 x bad", "1 x last", ""]);
  const [dead] = await Array.fromAsync(Deno.readDir(`${user.folder}/dead`));
  const letter = JSON.parse(await Deno.readTextFile(`${user.folder}/dead/${dead?.name}`));
  assertEquals([atob(letter.base64), letter.channel], ["bad", name]);
}

async function invites(user: User): Promise<void> {
  const { token } = await user.json(["channel", "invite", name, "--no-wait", "--uses", "3"]);
  const listed = await user.json(["invites", "list"]);
  const [invite] = listed.invites;
  assertEquals([listed.invites.length, invite.uses, invite.used], [1, 3, 0]);
  assert(!JSON.stringify(listed).includes(token));
  await user.run(["invites", "revoke", "AAAAAAAAAAAAAAAAAAAAAA"], { code: 4 });
  await user.run(["invites", "revoke", invite.id]);
  assertEquals((await user.json(["invites", "list", name])).invites, []);
}

async function hosts(user: User): Promise<void> {
  const { readers } = await user.json(["host", "readers", "list", name, ...bob]);
  assertEquals(readers.map(({ reader }: { reader: string }) => reader).sort(), [
    "audit",
    "default",
    "on-message",
  ]);
  await user.run(["host", "readers", "delete", name, "audit", ...bob]);
  await user.run(["host", "readers", "delete", name, "audit", ...bob], { code: 4 });
  const status = await user.json(["host", "status", ...bob]);
  assertEquals([status.running, status.programs, status.channels], [true, 0, [name]]);
  await receipts(user);
  await user.run(["host", "stop", ...bob]);
  assertEquals((await user.json(["host", "status", ...bob])).running, false);
  assertEquals((await user.json(["host", "stop", ...bob])).stopped, false);
  assertStringIncludes(
    (await user.run(["help", "channel", "send"])).stdout,
    "Send a message to all members",
  );
}

/** Nobody who asks is told while the setting is off, and later ones are when it is on again. */
async function receipts(user: User): Promise<void> {
  const { members } = await user.json(["channel", "members", name]);
  const to = members.find(({ self }: { self: boolean }) => !self).agent_id;
  const interruption = new AbortController();
  const ask = (text: string): Running =>
    user.start(["channel", "send", name, text, "--to", to, "--receipt"], {
      interrupt: interruption.signal,
    });
  const read = async (text: string): Promise<void> => {
    const stop = new AbortController();
    const listening = user.start(["channel", "listen", name, ...bob], { interrupt: stop.signal });
    await shown(listening, text);
    stop.abort();
    await listening.done;
  };
  assertEquals((await user.json(["agents", "set", "receipts", "off", ...bob])).running, false);
  const silent = ask("psst");
  await read("psst");
  await user.run(["agents", "set", "receipts", "addressed", ...bob]);
  const told = ask("and this?");
  await read("and this?");
  assertStringIncludes((await told.done).stdout, "delivered");
  assert(!silent.stdout().includes("delivered"), silent.stdout());
  interruption.abort();
  await silent.done;
}

async function agents(user: User): Promise<void> {
  const { agents } = await user.json(["agents", "list"]);
  const found = agents.map(({ name, host }: { name: string; host: boolean }) => [name, host]);
  assertEquals(found, [["bob", false], ["default", true]]);
  await user.run(["agents", "delete", "bob"], { code: 2 });
  {
    const dataDir = `${user.folder}/data/static/agents/bob/state`;
    await using _ = await StaticClient.connect({
      dataDir,
      identity: agents[0].identity,
      endpoint: user.variables.STATIC_RELAY_URL ?? "",
    });
    await user.run(["agents", "delete", "bob", "--yes"], { code: 4 });
  }
  await user.run(["agents", "delete", "bob", "--yes"]);
  assertEquals((await user.json(["agents", "list"])).agents.length, 1);
}
