/** Channels, doctor and demo from the command line, with a real API and a real relay. */
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { ChannelManager } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { connectAgent } from "../../sdk/testing/agents.ts";
import type { Stack } from "../support/stack.ts";
import { createCertificate, eventually } from "../support/mod.ts";
import { bogusCommit } from "../support/scenario/bad_commits.ts";
import { User } from "./user.ts";

const name = "acme/ops/deploy";

export async function checkChannels(t: Deno.TestContext, stack: Stack): Promise<void> {
  await using user = await member(stack);
  await t.step("channel create makes a channel once, and says what comes next", () => create(user));
  await t.step(
    "channel invite lets in whoever joins with its token, which is never shown again",
    () => invite(user),
  );
  await t.step(
    "channel invite --replaces puts an agent in the place of the member that is named",
    () => replace(user),
  );
  await t.step(
    "channel send takes a text, a pipe or lines; channel listen prints each message once",
    () => talk(user),
  );
  await t.step(
    "channel listen keeps bytes as they are in a pipe, and terminals safe",
    () => bytes(user),
  );
  await t.step("channel members, fingerprint and list say the same to both", () => agree(user));
  await t.step(
    "channel promote, demote and policy say who owns a channel and who speaks in it",
    () => own(user),
  );
  await t.step("an agent that is in use is not opened twice, and says so", () => locked(user));
  await t.step("channel invite and join end in words when nobody answers", () => alone(user));
  await t.step(
    "what is not there or not allowed is refused in words, with exit code 2 or 4",
    () => refuse(user),
  );
  await t.step("channel remove and leave take members out, channel close ends it", () => end(user));
  await t.step(
    "channel create says how to forget a channel that is over, and that works",
    () => forget(user),
  );
  await t.step(
    "channel recover begins a channel anew that a member has stopped",
    () => recover(stack, user),
  );
  await t.step("a message beyond the plan's quota ends with exit code 6", () => quota(stack));
  await t.step(
    "agent verify, passphrase and repair work on the agent's own files",
    () => ownFiles(user),
  );
  await t.step(
    "doctor finds everything well, and says what to do about what is not",
    () => diagnose(stack, user),
  );
  await t.step(
    "demo shows what members see beside what the relay sees",
    () => demonstrate(stack, user),
  );
}

async function member({ api, account, quicUrl, grpcUrl, caFile }: Stack): Promise<User> {
  const user = await User.create({
    STATIC_API_URL: api.url,
    STATIC_RELAY_URL: `${quicUrl},${grpcUrl}`,
    STATIC_CA_FILE: caFile,
    STATIC_API_KEY: account.apiKey,
  });
  user.secrets.add(account.apiKey);
  return user;
}

const bob = ["--agent", "bob"];

async function create(user: User): Promise<void> {
  const { stdout, stderr } = await user.run(["channel", "create", name]);
  assertEquals(stdout, `✓ Channel ${name} created\n`);
  assertStringIncludes(stderr, `static channel invite ${name}`);
  const again = await user.json(["channel", "create", name], { code: 4 });
  assertEquals(again.error.code, "name_taken");
  assertEquals(again.error.message, `Agent "default" is in channel "${name}" already`);
  assertStringIncludes(again.error.advice, "--agent NAME");
  const open = "acme/ops/other-makers";
  const choose = (mode: string): string[] => ["channel", "create", open, "--post-quantum", mode];
  assertEquals((await user.json(choose("always"), { code: 2 })).error.code, "invalid_request");
  await user.run(choose("prefer"));
  assertMatch(
    (await user.run(["channel", "health", open])).stdout,
    /^Recordings of .+ since it was created\. An agent without post-quantum keys may come in, which ends that$/m,
  );
  await user.run(["channel", "close", open, "--yes"]);
}

async function ownFiles(user: User): Promise<void> {
  const { damaged, faults, identity } = await user.json(["agent", "verify"]);
  assertEquals([damaged, faults, identity.startsWith("default-")], [[], [], true]);
  await user.run(["agent", "passphrase"], { input: "\nswordfish\n" });
  const refused = await user.json(["agent", "verify"], { code: 3 });
  assertEquals(refused.error.code, "passphrase_wrong");
  const variables = { STATIC_PASSPHRASE: "swordfish" };
  await user.run(["agent", "verify"], { variables });
  await user.run(["channel", "list"], { variables });
  await user.run(["agent", "passphrase"], { input: "swordfish\n\n" });
  const state = `${user.folder}/data/static/agents/default/state`;
  const witness = `${state}/witness`;
  const bytes = await Deno.readFile(witness);
  await Deno.writeFile(witness, bytes.map((byte, i) => i === bytes.length - 1 ? byte ^ 1 : byte));
  await user.run(["agent", "verify"], { code: 7 });
  await user.run(["agent", "repair", "--yes"]);
  await user.run(["agent", "verify"]);
}

/** Both sides of an invite at once, as in two terminals. */
async function invite(user: User): Promise<void> {
  const inviting = user.start(["channel", "invite", name]);
  await eventually(
    { what: "a token" },
    () => Promise.resolve(inviting.stdout()),
    (out) => out !== "",
  );
  const token = inviting.stdout().trim();
  assertMatch(token, /^inv_[\w-]+$/);
  const joined = await user.run(["channel", "join", name, ...bob], { input: `${token}\n` });
  assertMatch(
    joined.stdout,
    new RegExp(
      `^✓ Joined ${name}, with [\\w-]{22} \\(of your account; calls itself "default-\\w{4}"\\)\n$`,
    ),
  );
  assertStringIncludes(joined.stderr, `echo hello | static channel send ${name} --agent bob`);
  assert(!(joined.stdout + joined.stderr).includes(token));
  const invited = await inviting.done;
  assertEquals(invited.code, 0);
  assertMatch(
    invited.stdout,
    /✓ [\w-]{22} \(of your account; calls itself "bob-\w{4}"\) has joined\n$/,
  );
  assertStringIncludes(invited.stderr, `static channel join ${name} --agent bob`);
  const byBob = await user.run(["channel", "invite", name, "--no-wait", ...bob]);
  assertStringIncludes(byBob.stderr, `static channel join ${name} --agent alice`);
}

async function replace(user: User): Promise<void> {
  const desk = "acme/ops/desk";
  await user.run(["channel", "create", desk]);
  await letIn(user, desk, [], "erin");
  const members = async (): Promise<{ agent_id: string; identity: string; self: boolean }[]> =>
    (await user.json(["channel", "members", desk])).members;
  const erin = (await members()).find(({ self }) => !self);
  assert(erin);
  const refused = await user.json([
    "channel",
    "invite",
    desk,
    "--link",
    "--replaces",
    erin.agent_id,
  ], { code: 2 });
  assertStringIncludes(refused.error.message, "replaces no member");
  const twice = await user.json([
    "channel",
    "invite",
    desk,
    "--uses",
    "2",
    "--replaces",
    erin.agent_id,
  ], { code: 2 });
  assertStringIncludes(twice.error.message, "one agent");
  await letIn(user, desk, ["--replaces", erin.agent_id], "frank");
  assertEquals((await members()).map(({ identity }) => identity.slice(0, -5)).toSorted(), [
    "default",
    "frank",
  ]);
  await user.run(["channel", "close", desk, "--yes"]);
}

/** An agent joins by the token of `channel invite`, which ends then. */
async function letIn(
  user: User,
  channel: string,
  flags: readonly string[],
  agent: string,
): Promise<void> {
  const inviting = user.start(["channel", "invite", channel, ...flags]);
  await eventually(
    { what: "a token" },
    () => Promise.resolve(inviting.stdout()),
    (out) => out !== "",
  );
  await user.run(["channel", "join", channel, "--agent", agent], { input: inviting.stdout() });
  assertEquals((await inviting.done).code, 0);
}

async function talk(user: User): Promise<void> {
  assertEquals((await user.run(["channel", "send", name, "from the command line"])).stdout, "");
  await user.run(["channel", "send", name], { input: "from a pipe\n" });
  const lines = await user.json(["channel", "send", name, "--lines"], {
    input: "one\r\n\ntwo\n\r\nthree",
  });
  assertEquals(lines, { channel: name, messages: 3 }, "empty lines are none");
  const read = await user.run(["channel", "listen", name, "--count", "4", ...bob]);
  assertEquals(read.stdout, "from the command line\nfrom a pipe\none\ntwo\n");

  const sent = await user.json(["channel", "send", name, "the last"]);
  const rest = await user.run(["channel", "listen", name, "--count", "2", "--json", ...bob]);
  const [third, last] = rest.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals([third.text, last.text, last.id], ["three", "the last", sent.id]);
  assertMatch(last.sender.identity, /^default-\w{4}$/);
  assert(Math.abs(Date.parse(last.time) - Date.now()) < 60_000);
}

async function bytes(user: User): Promise<void> {
  await user.run(["channel", "send", name], { input: Uint8Array.of(0xff, 0x00, 0x0a) });
  await user.run(["channel", "send", name], { input: "\x1b[2Jclear\nsecond line\n" });
  const binary = await user.run(["channel", "listen", name, "--count", "1", "--json", ...bob]);
  assertEquals(JSON.parse(binary.stdout).base64, "/wA=");
  const plain = { terminal: true, variables: { NO_COLOR: "1" } };
  const shown = await user.run(["channel", "listen", name, "--count", "1", ...bob], plain);
  assertMatch(
    shown.stdout,
    /^\d\d:\d\d:\d\d [\w-]{22} {2}of your account; calls itself "default-\w{4}" {2}\\u\{1b\}\[2Jclear\n {2}second line\n$/,
  );

  const interruption = new AbortController();
  const listening = user.start(["channel", "listen", name, ...bob], {
    interrupt: interruption.signal,
  });
  await user.run(["channel", "send", name, "while listening"]);
  await eventually(
    { what: "the message" },
    () => Promise.resolve(listening.stdout()),
    (out) => out === "while listening\n",
  );
  const { members } = await user.json(["channel", "members", name]);
  const to = members.find(({ self }: { self: boolean }) => !self).agent_id;
  const asking = ["channel", "send", name, "and you?", "--receipt"];
  const sent = await user.json([...asking, "--to", to]);
  assertEquals(sent.receipt, "delivered");
  await user.run(asking, { code: 2 });
  interruption.abort();
  assertEquals((await listening.done).code, 0);
  await user.run(["channel", "send", name, "after"]);
  const after = await user.run(["channel", "listen", name, "--count", "1", ...bob]);
  assertEquals(after.stdout, "after\n", "what was printed before Ctrl-C does not come again");
}

async function agree(user: User): Promise<void> {
  const [mine, theirs] = [
    await user.json(["channel", "members", name]),
    await user.json(["channel", "members", name, ...bob]),
  ];
  const ids = ({ members }: { members: { agent_id: string }[] }): string[] =>
    members.map((each) => each.agent_id).sort();
  assertEquals(ids(mine), ids(theirs));
  const { stdout } = await user.run(["channel", "members", name]);
  assertMatch(
    stdout,
    new RegExp(
      `^${name} — anyone can choose this name\\. Owners: you\nAGENT ID +WHO +ONLINE +HEARD\n` +
        '[\\w-]{22}  you; you call yourself "default-\\w{4}" +relay: online +[\\w, ]+ owner, you\n' +
        '[\\w-]{22}  of your account; calls itself "bob-\\w{4}" +relay: offline +[\\w, ]+\n$',
    ),
  );
  const fingerprint = (await user.run(["channel", "fingerprint", name])).stdout;
  assertMatch(fingerprint, /^(\d{5} ){7}\d{5} {2}epoch \d+\n$/);
  assertEquals((await user.run(["channel", "fingerprint", name, ...bob])).stdout, fingerprint);
  assertEquals((await user.run(["channel", "list", ...bob])).stdout, `${name}\n`);
  const { state, post_quantum: recorded, forked, silent } = await user.json(
    ["channel", "health", name, ...bob],
  );
  assertEquals([state, recorded, forked, silent], [
    "ok",
    { state: "all", since: 0, required: true },
    [],
    [],
  ]);
  assertMatch(
    (await user.run(["channel", "health", name])).stdout,
    /^acme\/ops\/deploy is ok, at epoch \d+\nRecordings of .+ since it was created\n/,
  );
}

async function own(user: User): Promise<void> {
  const { members } = await user.json(["channel", "members", name]);
  const { agent_id: guest, identity } = members.find(({ self }: { self: boolean }) => !self);
  const refused = await user.json(["channel", "promote", name, identity], { code: 2 });
  assertStringIncludes(
    refused.error.message,
    `${guest} calls itself so, which proves nothing: use an agent id`,
  );
  const promoted = `✓ ${guest} (of your account; calls itself "${identity}") owns ${name}\n`;
  assertEquals((await user.run(["channel", "promote", name, guest])).stdout, promoted);
  assertEquals((await user.json(["channel", "demote", name, guest])).member.owner, false);
  const { stdout } = await user.run(["channel", "policy", name, "--posting", "owners"]);
  assertEquals(stdout, "May admit agents: every member\nMay post: owners only\n");
  assertMatch(
    (await user.run(["channel", "members", name, ...bob])).stdout,
    /\n\nMay admit agents: every member\nMay post: owners only\n$/,
  );
  assertEquals(
    (await user.run(["channel", "rotate", name, ...bob])).stdout,
    `✓ This agent has new keys in ${name}\n`,
  );
  const silent = await user.json(["channel", "send", name, "may I?", ...bob], { code: 4 });
  assertEquals(silent.error.code, "not_allowed");
  const { error } = await user.json(["channel", "leave", name], { code: 4 });
  assertEquals(error.code, "successor_needed");
  const { policy } = await user.json(["channel", "policy", name, "--posting", "members"]);
  assertEquals(policy, { admission: "members", posting: "members" });
}

async function locked(user: User): Promise<void> {
  const interruption = new AbortController();
  const listening = user.start(["channel", "listen", name], {
    terminal: true,
    interrupt: interruption.signal,
  });
  await eventually(
    { what: "listening" },
    () => Promise.resolve(listening.stderr()),
    (out) => out.includes("Listening"),
  );
  const { error } = await user.json(["channel", "members", name], { code: 4 });
  assertEquals(error.code, "store_locked");
  assertStringIncludes(error.advice, "--agent");
  interruption.abort();
  await listening.done;
}

async function alone(user: User): Promise<void> {
  const { token } = await user.json([
    "channel",
    "invite",
    name,
    "--no-wait",
    "--uses",
    "2",
    "--expires",
    "1h",
  ]);
  const late = await user.run([
    "channel",
    "join",
    name,
    token,
    "--timeout",
    "1s",
    "--agent",
    "carol",
  ], { code: 5 });
  assertMatch(late.stderr, /warning: TOKEN is on the command line/);
  assertMatch(
    late.stderr,
    /error: No member admitted this agent within 1 second\n.*channel listen/,
  );
  await interruptJoining(user);

  const interruption = new AbortController();
  const inviting = user.start(["channel", "invite", name], { interrupt: interruption.signal });
  await eventually(
    { what: "a token" },
    () => Promise.resolve(inviting.stdout()),
    (out) => out !== "",
  );
  interruption.abort();
  assertEquals((await inviting.done).code, 130);
}

/** The terminal is narrow: progress must not take more than its line, and must not stay on it. */
async function interruptJoining(user: User): Promise<void> {
  const [door, host] = ["acme/ops/door", ["--agent", "host"]];
  await user.run(["channel", "create", door, ...host]);
  const { token } = await user.json(["channel", "invite", door, "--no-wait", ...host]);
  const interruption = new AbortController();
  const options = { terminal: true, columns: 20, interrupt: interruption.signal };
  const joining = user.start(["channel", "join", door, "--agent", "carol"], {
    input: `${token}\n`,
    ...options,
  });
  await eventually(
    { what: "waiting" },
    () => Promise.resolve(joining.stderr()),
    (out) => out.includes("waiting to be"),
  );
  const startMs = performance.now();
  interruption.abort();
  const { code, stderr } = await joining.done;
  assertEquals(code, 130);
  assertLess(performance.now() - startMs, 1_500, "not only when the time for tidying up is over");
  const [, ...drawn] = stderr.split("\r\x1b[2K");
  assertEquals(drawn.filter((line) => line.length > 19), []);
  assertEquals(drawn.at(-1), "");
}

async function refuse(user: User): Promise<void> {
  const cases: readonly (readonly [number, readonly string[], string?])[] = [
    [2, ["channel", "create", "Not/A/Name"]],
    [2, ["channel", "create", "acme/ops/two", "--agent", "../escape"]],
    [2, ["channel", "invite", name, "--uses", "many"]],
    [2, ["channel", "invite", name, "--expires", "soon"]],
    [2, ["channel", "join", name, "--agent", "carol"], "not a token\n"],
    [2, ["channel", "join", name, "--timeout", "never"], "inv_x\n"],
    [2, ["channel", "listen", name, "--count", "0"]],
    [2, ["channel", "send", name], ""],
    [2, ["channel", "send", name], "x".repeat(1024 * 1024 + 3)],
    [4, ["channel", "send", "acme/ops/other", "hello"]],
    [4, ["channel", "listen", "acme/ops/other"]],
    [4, ["channel", "members", "acme/ops/other"]],
    [4, ["channel", "fingerprint", "acme/ops/other"]],
    [4, ["channel", "health", "acme/ops/other"]],
    [4, ["channel", "invite", "acme/ops/other"]],
    [4, ["channel", "leave", "acme/ops/other"]],
    [4, ["channel", "close", "acme/ops/other", "--yes"]],
    [2, ["channel", "close", "acme/ops/other"]],
    [4, ["channel", "remove", name, "nobody"]],
    [2, ["channel", "list", "--agent", ""]],
  ];
  for (const [code, argv, input] of cases) {
    const { stderr } = await user.run(argv, { code, input: input ?? "" });
    assert(
      !/Welcome|channel\(|apiUrl/.test(stderr),
      `the SDK's words mean nothing here: ${stderr}`,
    );
  }
}

async function end(user: User): Promise<void> {
  const mine = await user.json(["channel", "remove", name, "nobody", ...bob], { code: 4 });
  assertEquals(mine.error.code, "not_found");
  const { members } = await user.json(["channel", "members", name]);
  const { agent_id } = members.find(({ self }: { self: boolean }) => !self);
  const notAllowed = await user.json(["channel", "remove", name, members[0].agent_id, ...bob], {
    code: 4,
  });
  assertEquals(notAllowed.error.code, "not_allowed");
  const removed = await user.json(["channel", "remove", name, agent_id]);
  assertEquals(removed.removed.agent_id, agent_id);
  await user.run(["channel", "send", name, "nobody else hears it"]);
  assertEquals((await user.json(["channel", "members", name])).members.length, 1);
  await user.run(["channel", "members", name, ...bob], { code: 4 });

  await user.run(["channel", "close", name, "--yes"]);
  await user.run(["channel", "create", name]);
  await user.run(["channel", "leave", name, "--yes"]);
  assertEquals((await user.run(["channel", "list"])).stdout, "");
}

/**
 * An agent that hears from the relay alone that a channel is over keeps its keys, until its user
 * says so.
 */
async function forget(user: User): Promise<void> {
  const gone = "acme/ops/gone";
  await user.run(["channel", "create", gone]);
  await letIn(user, gone, [], "bob");
  await user.run(["channel", "close", gone, "--yes"]);
  const { error } = await user.json(["channel", "create", gone, ...bob], { code: 4 });
  assertEquals([error.code, error.message], [
    "name_taken",
    `Agent "bob" has the keys of a channel "${gone}" that is over, as the relay says`,
  ]);
  assertStringIncludes(error.advice, `static channel close ${gone} --agent bob`);
  await user.run(["channel", "close", gone, "--yes", ...bob]);
  await user.run(["channel", "create", gone, ...bob]);
  await user.run(["channel", "close", gone, "--yes", ...bob]);
}

/** A member with a modified client commits random bytes; the owner goes on without it. */
async function recover({ api, account, quicUrl, caFile }: Stack, user: User): Promise<void> {
  await user.run(["channel", "create", name]);
  const well = await user.json(["channel", "recover", name], { code: 2 });
  assertStringIncludes(well.error.message, "nothing to recover");
  const folder = await Deno.makeTempDir();
  const connected = async (identity: string): Promise<Awaited<ReturnType<typeof connectAgent>>> =>
    await connectAgent({
      identity,
      dataDir: `${folder}/${identity}`,
      endpoint: quicUrl,
      apiUrl: api.url,
      apiKey: account.apiKey,
      tls: { caCerts: [await Deno.readTextFile(caFile)] },
    }, platform);
  const [agent, invented] = [await connected("mallory"), await connected("sybil")];
  const [manager, other] = [await ChannelManager.over(agent), await ChannelManager.over(invented)];
  try {
    const inviting = user.start(["channel", "invite", name]);
    const said = (): Promise<string> => Promise.resolve(inviting.stdout());
    const token = await eventually({ what: "a token" }, said, (out) => out.includes("\n"));
    await manager.joinWithToken(name, token.trim());
    await inviting.done;
    await other.joinWithToken(name, await manager.invite(name));
    await agent.parts.session.call("SendCommit", await bogusCommit(agent, name));
  } finally {
    await other.close();
    await manager.close();
    await Deno.remove(folder, { recursive: true });
  }
  const stopped = await user.json(["channel", "members", name], { code: 4 });
  assertMatch(
    stopped.error.message,
    /"mallory" \(.*\) signed a commit that this agent cannot follow/,
  );
  assertStringIncludes(stopped.error.advice, "recover()");
  const preview = await user.json(["channel", "recover", name, "--dry-run"]);
  const because = preview.left_out.map((each: { because: string }) => each.because);
  assertEquals([because, preview.choice_needed, preview.member_count], [
    ["blamed", "let_in"],
    true,
    3,
  ]);
  const sybil = preview.left_out[1].agent_id;
  const shownWays = await user.run(["channel", "recover", name, "--dry-run"]);
  assertMatch(
    shownWays.stdout,
    /^\S+ \(of your account; calls itself "sybil"\): came in through it, let in by /m,
  );
  assertStringIncludes(shownWays.stderr, `static channel recover ${name} --without none`);
  const asks = await user.json(["channel", "recover", name], { code: 4 });
  assertEquals(asks.error.code, "choice_needed");
  assertStringIncludes(asks.error.advice, `static channel recover ${name} --without ${sybil}`);
  const empty = await user.json(["channel", "recover", name, "--without", ","], { code: 2 });
  assertStringIncludes(empty.error.message, "--without names nobody");
  const both = await user.json(["channel", "recover", name, "--without", "none", "--keep", "x"], {
    code: 2,
  });
  assertStringIncludes(both.error.message, "not both");
  const recovered = await user.json(["channel", "recover", name, "--without", sybil]);
  assertEquals([recovered.recovered, recovered.left_out.length, recovered.members.length], [
    true,
    2,
    1,
  ]);
  await user.run(["channel", "send", name, "alone, and well"]);
  await user.run(["channel", "leave", name, "--yes"]);
}

/** An account that has used all messages of its month, as another relay reports. */
async function spentAccount({ api }: Stack): Promise<string> {
  const { id, apiKey } = await api.signUp();
  const post = (path: string, body: object): ReturnType<typeof api.call> =>
    api.call("POST", `/internal/v1/leases${path}`, {
      key: api.relaySecret,
      body: { relay_id: "other", ...body },
    });
  for (;;) {
    const { status, json } = await post("", {
      account_id: id,
      nonce: crypto.randomUUID(),
      messages: 10_000,
    });
    if (status !== 200) return apiKey;
    const { id: lease_id, fence, granted: consumed } = json.lease;
    const report = {
      lease_id,
      fence,
      consumed,
      bytes: { payload: 0, padding: 0, cover: 0 },
      close: true,
    };
    await post("/reports", { reports: [report] });
  }
}

async function quota(stack: Stack): Promise<void> {
  await using user = await member(stack);
  const variables = { STATIC_API_KEY: await spentAccount(stack) };
  await user.run(["channel", "create", "acme/quota/full"], { variables });
  const over = await user.json(["channel", "send", "acme/quota/full", "one too many"], {
    variables,
    code: 6,
  });
  assertEquals([over.error.code, over.error.message.includes("GET")], ["quota_exceeded", false]);
  assertStringIncludes(over.error.advice, "static usage");
}

async function diagnose(stack: Stack, user: User): Promise<void> {
  const caFile = await otherAuthority(user);
  const variables = { STATIC_API_KEY: await spentAccount(stack) };
  const { stdout } = await user.run(["doctor", "--ca-file", caFile], { variables, code: 7 });
  assertMatch(stdout, /✓ API key +accepted/);
  assertMatch(stdout, /✓ Badges +static.localhost has issued \d to agents of this account/);
  assertMatch(stdout, /✗ Quota +10,000 of 10,000 messages used this month\n +→ It resets /);
  assertMatch(
    stdout,
    /✗ Relay +https:\S+ presents a certificate that this machine does not trust\n +→ Its certificate is from an unknown authority/,
  );
  assertMatch(stdout, /✗ Certificate +not trusted: .+\n +→ Give the relay's ca.pem with --ca-file/);
  assertMatch(stdout, /- Session +not checked, because of: Relay/);

  // The relay's port is one of HTTPS, too, and runs, whatever its certificate is worth.
  const strange = await user.json(["usage"], {
    code: 5,
    variables: { STATIC_API_URL: stack.grpcUrl, STATIC_CA_FILE: caFile },
  });
  assertStringIncludes(strange.error.advice, "--ca-file");

  const well = await user.json(["doctor"]);
  assertEquals(
    well.findings.map(({ state }: { state: string }) => state),
    new Array(11).fill("ok"),
  );
  assertMatch((await user.run(["doctor"])).stdout, /✓ ML-KEM +the runtime's\n/);
  const alone = await user.json(["doctor", "--relay-url", stack.quicUrl]);
  assertEquals(stateOf(alone, "Relay"), "warning", "the TCP port of such an address is a guess");
  assertEquals(stateOf(alone, "Session"), "ok");
  // Of two relays one is enough for agents, so the other one is a warning.
  const relays = `${stack.quicUrl},${stack.grpcUrl},https://localhost:1`;
  const half = await user.json(["doctor", "--relay-url", relays]);
  assertEquals([stateOf(half, "Relay"), stateOf(half, "Certificate"), stateOf(half, "Session")], [
    "warning",
    "ok",
    "ok",
  ]);
  const { text } = half.findings.find(({ name }: { name: string }) => name === "Relay");
  assertStringIncludes(text, "1 of 2 relays: https://localhost:1 does not answer");
  const ahead = await user.run(["doctor"], { nowMs: () => Date.now() + 600_000, code: 7 });
  assertMatch(ahead.stdout, /✗ Clock +10 minutes ahead of the API's\n +→ Set this machine's clock/);
}

function stateOf(
  { findings }: { findings: { name: string; state: string }[] },
  check: string,
): string | undefined {
  return findings.find(({ name }) => name === check)?.state;
}

/** A file with a certificate that has nothing to do with the relay. */
async function otherAuthority(user: User): Promise<string> {
  const path = `${user.folder}/other.pem`;
  await Deno.writeTextFile(path, (await createCertificate()).cert);
  return path;
}

async function demonstrate(stack: Stack, user: User): Promise<void> {
  // As the first command of a new user: nothing is saved, and the API tells where the relay is.
  const { stdout, stderr } = await user.run(["demo"], {
    variables: { STATIC_API_KEY: "", STATIC_RELAY_URL: "" },
  });
  assertMatch(stderr, /account demo-\w+@example.org was created for this demo/);
  assertMatch(stdout, /^alice: hello bob +SendMessage: epoch 1, (\d+) bytes$/m);
  const sizes = Array.from(
    stdout.matchAll(/SendMessage: epoch \d, (\d+) bytes/g),
    ([, size]) => size,
  );
  assertEquals(
    [sizes.length, new Set(sizes).size],
    [5, 1],
    "five messages, long and short, of one size",
  );
  assertEquals(
    stdout.split("\n").filter((line) => [...line].length > 80),
    [],
    "it fits a terminal of 80 columns",
  );
  const right = stdout.split("\n").map((line) => line.slice(44)).join("\n");
  assert(!/swordfish|hello/.test(right), "nothing that was said is in what the relay sees");
  await assertShownInReadme(stdout);
  const { steps } = await user.json(["demo"], {
    variables: { STATIC_API_KEY: (await stack.api.signUp()).apiKey },
  });
  assert(steps.length > 8);
}

/**
 * The README's picture of the demo equals its output, but for the bytes of ciphertext, which always
 * differ.
 */
async function assertShownInReadme(printed: string): Promise<void> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const [, shown = ""] = /```text\n(What the members see[^]*?)```/.exec(readme) ?? [];
  const lines = (text: string): string[] =>
    text.replace(/… [\da-f ]+$/gm, "… bytes").trim().split("\n");
  assertEquals(lines(shown).filter((line) => !lines(printed).includes(line)), []);
  assert(lines(shown).length > 4, shown);
}
