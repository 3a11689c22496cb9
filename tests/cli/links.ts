/**
 * Links from the command line: a guest on a machine that has never seen the service, and what is
 * wrong with links.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { formatJoinLink, parseJoinLink } from "../../proto/mod.ts";
import { inCampaign } from "../support/campaign.ts";
import { eventually } from "../support/mod.ts";
import type { Stack } from "../support/stack.ts";
import { User } from "./user.ts";

const name = "acme/links/visit";

export async function checkLinks(t: Deno.TestContext, stack: Stack): Promise<void> {
  await using owner = await User.create({
    STATIC_API_URL: stack.api.url,
    STATIC_CA_FILE: stack.caFile,
    STATIC_API_KEY: stack.account.apiKey,
  });
  await owner.run(["channel", "create", name]);
  await t.step(
    "a guest with nothing but a link joins and speaks in two commands",
    () => visit(owner),
  );
  await t.step(
    "a guest whose pass has no messages left takes a new link",
    () => spend(owner, stack),
  );
  await t.step(
    "a user with an account of the service joins by a link with it",
    () => visitAsUser(owner),
  );
  await t.step(
    "a link that cannot be used is refused in words, and leaves nothing behind",
    () => refuse(owner),
  );
}

/** Runs `channel invite` until the act is over. */
async function inviting(
  owner: User,
  flags: readonly string[],
  act: (link: string) => Promise<void>,
): Promise<void> {
  const running = owner.start(["channel", "invite", name, ...flags]);
  await eventually(
    { withinMs: 120_000, what: "a link" },
    () => Promise.resolve(running.stdout()),
    (out) => out.includes("\n"),
  );
  const link = running.stdout().trim();
  await act(link);
  const { code, stdout, stderr } = await running.done;
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /has joined\n$/);
}

async function visit(owner: User): Promise<void> {
  await using guest = await User.create();
  let startedMs = 0;
  await inviting(owner, ["--link", "--guest"], async (link) => {
    assertMatch(link, /^static:\/\/join\/#[\w-]+$/);
    guest.secrets.add(link.slice(link.indexOf("#") + 1));
    startedMs = performance.now();
    const joined = await guest.run(["channel", "join"], { input: `${link}\n` });
    assertMatch(
      joined.stdout,
      new RegExp(
        `^✓ Joined ${name}, with [\\w-]{22} \\(unverified; calls itself "default-\\w{4}"\\)\n$`,
      ),
    );
    // The same link again opens the channel: nothing is spent twice.
    assertMatch((await guest.run(["channel", "join"], { input: `${link}\n` })).stdout, /✓ Joined/);
  });
  await guest.run(["channel", "send", name, "hello from a guest"]);
  console.log(
    `CLI, from link to first message: ${Math.round(performance.now() - startedMs)} ms, 2 commands`,
  );
  const heard = await owner.json(["channel", "listen", name, "--count", "1"]);
  assertEquals(heard.text, "hello from a guest");
  assertEquals(((await Deno.stat(recordOf(guest))).mode ?? 0) & 0o777, 0o600);
  if (inCampaign) await replace(owner, guest);
}

async function replace(owner: User, guest: User): Promise<void> {
  const file = recordOf(guest);
  // A guest's agent is the guest's alone: another link wants another agent.
  const { link: ended } = await owner.json(["channel", "invite", name, "--guest", "--no-wait"]);
  const { invites } = await owner.json(["invites", "list", name]);
  for (const { id } of invites) await owner.run(["invites", "revoke", id]);
  const { link: other } = await owner.json(["channel", "invite", name, "--guest", "--no-wait"]);
  await owner.run(["channel", "create", `${name}-2`]);
  const { link: elsewhere } = await owner.json([
    "channel",
    "invite",
    `${name}-2`,
    "--guest",
    "--no-wait",
  ]);
  const refused = await guest.json(["channel", "join"], { input: `${elsewhere}\n`, code: 2 });
  assertStringIncludes(refused.error.advice, "--agent NAME");
  // Anybody can make a link that names this channel: a pass that is good stays, and one that is not
  // gives way.
  const passOf = async (): Promise<unknown> => JSON.parse(await Deno.readTextFile(file)).guest.link;
  const before = await passOf();
  assertMatch((await guest.run(["channel", "join"], { input: `${other}\n` })).stdout, /✓ Joined/);
  assertEquals(await passOf(), before);
  // As after a command that was killed when its agent had been let in.
  const record = JSON.parse(await Deno.readTextFile(file));
  for (const [link, code] of [[elsewhere, 2], [other, 0]] as const) {
    await Deno.writeTextFile(
      file,
      JSON.stringify({ ...record, guest: { link: before, joined: false } }),
    );
    await guest.run(["channel", "join"], { input: `${link}\n`, code });
    assertEquals(JSON.parse(await Deno.readTextFile(file)), record);
  }
  await guest.run(["host", "stop"]);
  await Deno.writeTextFile(
    file,
    JSON.stringify({ ...record, guest: { link: ended, joined: true } }),
  );
  assertMatch((await guest.run(["channel", "join"], { input: `${other}\n` })).stdout, /✓ Joined/);
  assertEquals(await passOf(), other);
  await guest.run(["channel", "send", name, "with another pass"]);
  assertEquals(
    (await owner.json(["channel", "listen", name, "--count", "1"])).text,
    "with another pass",
  );
}

/** A pass for one message, where `channel invite` gives a thousand. */
async function spend(owner: User, stack: Stack): Promise<void> {
  await using guest = await User.create();
  const link = await inviteWith(owner, stack, 1);
  const another = await inviteWith(owner, stack, 1);
  const listening = owner.start(["channel", "listen", name, "--count", "2"]);
  await guest.run(["channel", "join"], { input: `${link}\n` });
  const kept = await guest.run(["channel", "join"], { input: `${another}\n` });
  assertStringIncludes(kept.stderr, "keeps its earlier guest pass");
  await guest.run(["channel", "send", name, "the only one"]);
  const { error } = await guest.json(["channel", "send", name, "one too many"], { code: 6 });
  assertEquals(error.code, "quota_exceeded");
  assertStringIncludes(error.advice, "channel join");
  const { guest: before } = JSON.parse(await Deno.readTextFile(recordOf(guest)));
  assertEquals(before.link, link);
  if (inCampaign) await switchBeside(guest, another);
  else await guest.run(["channel", "join"], { input: `${another}\n` });
  await guest.run(["channel", "send", name, "with another pass"]);
  assertEquals((await listening.done).stdout, "the only one\nwith another pass\n");
}

/** A host that a program uses goes on with the earlier pass, so that the new one is not taken. */
async function switchBeside(guest: User, another: string): Promise<void> {
  const [stop, hosted] = [new AbortController(), { variables: { STATIC_HOST: "" } }];
  const { guest: before } = JSON.parse(await Deno.readTextFile(recordOf(guest)));
  const used = (programs: number): Promise<unknown> =>
    eventually(
      { withinMs: 120_000, what: `${programs} programs at the host` },
      () => guest.json(["host", "status"], hosted),
      (status) => status.programs === programs,
    );
  try {
    const reading = guest.start(["channel", "listen", name], { ...hosted, interrupt: stop.signal });
    await used(1);
    const input = `${another}\n`;
    const { error } = await guest.json(["channel", "join"], { ...hosted, input, code: 4 });
    assertStringIncludes(error.advice, "host stop");
    assertEquals(JSON.parse(await Deno.readTextFile(recordOf(guest))).guest, before);
    stop.abort();
    await reading.done;
    await used(0);
    const joined = await guest.run(["channel", "join"], { ...hosted, input });
    assert(!joined.stderr.includes("keeps its earlier guest pass"), joined.stderr);
    assertEquals(JSON.parse(await Deno.readTextFile(recordOf(guest))).guest, {
      link: another,
      joined: true,
    });
  } finally {
    stop.abort();
    await guest.run(["host", "stop"], hosted);
  }
}

async function inviteWith(owner: User, stack: Stack, messages: number): Promise<string> {
  const { link } = await owner.json(["channel", "invite", name, "--link", "--no-wait"]);
  const parts = parseJoinLink(link);
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const body = {
    name: "few",
    kind: "guest",
    channel_id: parts.invite.channelId,
    expires_at,
    message_limit: messages,
  };
  const { status, json, text } = await stack.api.call("POST", "/v1/keys", {
    key: stack.account.apiKey,
    body,
  });
  assertEquals(status, 200, text);
  return formatJoinLink({ ...parts, pass: json.key });
}

function recordOf(guest: User): string {
  return `${guest.folder}/data/static/agents/default/agent.json`;
}

async function visitAsUser(owner: User): Promise<void> {
  const bob = ["--agent", "bob"];
  await inviting(owner, ["--link", "--web"], async (link) => {
    assertMatch(link, /^http:\/\/127\.0\.0\.1:\d+\/console\/join#[\w-]+$/);
    const joined = await owner.run(["channel", "join", link, ...bob]);
    assertStringIncludes(joined.stderr, "The link is on the command line");
  });
  const record = await Deno.readTextFile(`${owner.folder}/data/static/agents/bob/agent.json`);
  assertEquals(Object.keys(JSON.parse(record)), ["identity"], "it is no guest");
  await using stranger = await User.create();
  const { link } = await owner.json(["channel", "invite", name, "--link", "--no-wait"]);
  const refused = await stranger.json(["channel", "join"], { input: `${link}\n`, code: 3 });
  assertEquals(refused.error.code, "auth_failed");
  assertStringIncludes(refused.error.advice, "signup --api-url http://127.0.0.1:");
}

async function refuse(owner: User): Promise<void> {
  const { link } = await owner.json(["channel", "invite", name, "--guest", "--no-wait"]);
  await using guest = await User.create();
  const join = async (
    input: string,
    code: number,
  ): Promise<{ readonly code: string; readonly message: string }> =>
    (await guest.json(["channel", "join", "--timeout", "1s"], { input: `${input}\n`, code })).error;
  const cut = await join(link.slice(0, -20), 2);
  assertEquals(cut.code, "link_invalid");
  assertStringIncludes(cut.message, "cut short");
  assertStringIncludes(
    (await join(`${link.slice(0, -1)}${link.endsWith("A") ? "B" : "A"}`, 2)).message,
    "link",
  );
  assert(!await exists(`${guest.folder}/data`), "nothing was written");
  // Nobody lets it in: the next attempt may be with another link.
  assertEquals((await join(link, 5)).code, "join_timeout");
  // Its agent knows the service now.
  const elsewhere = formatJoinLink({ ...parseJoinLink(link), apiUrl: "http://127.0.0.1:1" });
  const refused = await guest.json(["channel", "join"], { input: `${elsewhere}\n`, code: 2 });
  assertEquals(refused.error.code, "invalid_request");
  assertStringIncludes(refused.error.advice, "--agent NAME");
  // Another one: on a slow machine the owner's next command may still find the request, and let the
  // guest in.
  const { link: next } = await owner.json(["channel", "invite", name, "--guest", "--no-wait"]);
  const { invites } = await owner.json(["invites", "list", name]);
  for (const { id } of invites) await owner.run(["invites", "revoke", id]);
  const revoked = await join(next, 3);
  assertEquals(revoked.code, "auth_key_invalid");
  assertStringIncludes(revoked.message, "ask for a new link");
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
