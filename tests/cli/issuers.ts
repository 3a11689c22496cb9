/**
 * Issuers of badges, their agents and their readers. Domains of the web stand on this machine: a
 * proxy leads there, and counts what is asked for. Programs of their own ask, because a proxy of
 * the environment is for a whole process.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { badgeStatement, decodeBase64url, formatBadge, parseBadges } from "../../proto/mod.ts";
import { ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { createCertificate } from "../support/certificate.ts";
import { type ConnectProxy, startConnectProxy } from "../support/connect_proxy.ts";
import { eventually } from "../support/mod.ts";
import type { Stack } from "../support/stack.ts";
import { assertNoStackTrace, User } from "./user.ts";

const acme = ["--domain", "acme.com"];
const path = "/.well-known/static-agents";

export async function checkIssuers(t: Deno.TestContext, stack: Stack): Promise<void> {
  await t.step("a domain's keys, badges by them, and what a reader believes", () => byHand(stack));
  await t.step("a domain's keys come from its web site, and no other place is asked", byWeb);
  await t.step("four commands lead from nothing to an attested agent", () => fromNothing(stack));
}

async function byHand(stack: Stack): Promise<void> {
  const service = {
    STATIC_API_URL: stack.api.url,
    STATIC_RELAY_URL: stack.quicUrl,
    STATIC_CA_FILE: stack.caFile,
    STATIC_API_KEY: stack.account.apiKey,
  };
  await using issuer = await User.create();
  await using bob = await User.create(service);
  const file = (name: string): string => `${issuer.folder}/${name}`;
  const publish = async (argv: readonly string[]): Promise<string> => {
    const { stdout } = await issuer.run(argv);
    await Deno.writeTextFile(file("static-agents"), stdout);
    return stdout;
  };
  const { stderr } = await issuer.run(["badge", "key", "new", ...acme, "--keys", file("stick")]);
  assertStringIncludes(stderr, `https://acme.com${path}`);
  assertEquals(((await Deno.stat(file("stick"))).mode ?? 0) & 0o777, 0o600);
  const [{ d, kid: firstKid }] = JSON.parse(await Deno.readTextFile(file("stick"))).keys;
  issuer.secrets.add(d);
  const keys = ["--keys", file("stick")];
  await publish(["badge", "document", ...acme, ...keys]);

  // A reader looks before anything is believed.
  const adding = ["trust", "add", "acme.com", "--file", file("static-agents")];
  const asked = await bob.run(adding, { code: 2 });
  assertMatch(asked.stderr, /acme\.com has these keys:\n {2}(\d{5} ){8} 20\d\d-\d\d\n/);
  assertMatch(asked.stderr, /Not confirmed: Believe badges of acme\.com/);
  assertEquals((await bob.json(["trust", "list"])).domains, []);
  await bob.run(adding, { input: "y\n", terminal: true, columns: 200 });

  // The private file is no document.
  const mistaken = ["trust", "add", "acme.com", "--file", file("stick"), "--yes"];
  assertStringIncludes((await bob.run(mistaken, { code: 2 })).stderr, "it has a private key (d)");

  // One for an agent of somebody else, which takes no other's.
  const { agent_id } = await bob.json(["agents", "number"]);
  const issuing = ["badge", "issue", ...acme, ...keys, "--name", "deploy-bot", "--agent"];
  const { stdout: text } = await issuer.run([...issuing, agent_id, "--days", "7"]);
  const [badge] = parseBadges(text);
  assertEquals([badge?.domain, badge?.name, badge?.agentId], ["acme.com", "deploy-bot", agent_id]);
  assertEquals((badge?.notAfter ?? 0) - (badge?.notBefore ?? 0), 7 * 24 * 60 * 60);
  const foreign = (await issuer.run([...issuing, "c".repeat(22)])).stdout.trim();
  assertMatch((await bob.run(["badge", "use", foreign], { code: 2 })).stderr, /is for agent c{22}/);
  await Deno.writeTextFile(file("badge"), text);
  assertMatch((await bob.run(["badge", "use", file("badge")])).stdout, /deploy-bot at acme\.com/);
  const shown = await bob.run(["badge", "show"]);
  assertMatch(shown.stdout, /Badge +deploy-bot at acme\.com\n[^]*Verdict +attested by acme\.com/);

  await required(stack, bob, d);

  // Another domain beside it, by this user's own hand; a third one takes a place.
  await bob.run(["badge", "key", "new", "--domain", "umbrella.org"]);
  const own = ["badge", "issue", "--name", "bob", "--domain"];
  await bob.run([...own, "umbrella.org"]);
  await bob.run(["badge", "key", "new", "--domain", "evil.example"]);
  const third = await bob.run([...own, "evil.example"]);
  assertStringIncludes(third.stderr, "badge of acme.com is shown no more");
  const verdicts = (await bob.json(["badge", "show"])).badges.map((
    { domain, verdict }: { domain: string; verdict: string },
  ) => [domain, verdict]);
  assertEquals(verdicts, [
    ["evil.example", "not believed: evil.example is not in your trust list"],
    ["umbrella.org", "not believed: umbrella.org is not in your trust list"],
  ]);
  for (
    const [bad, says] of [
      [[...own, "umbrella.org", "--days", "401"], /at most 400/],
      [[...own.slice(0, 3), "Bob", "--domain", "umbrella.org"], /cannot be the name/],
      [["badge", "use", "nowhere"], /There is no file nowhere/],
      [["badge", "issue", "--name", "x", ...acme], /no file .*issuers\/acme\.com\.json/],
    ] as const
  ) {
    assertMatch((await bob.run(bad, { code: 2 })).stderr, says);
  }

  // The next key is endorsed by the one before it, which then closes and goes.
  const second = JSON.parse(await publish(["badge", "key", "new", ...acme, ...keys]));
  assertEquals(second.keys.map((key: { endorsed_by?: string }) => key.endorsed_by), [
    undefined,
    firstKid,
  ]);
  assertEquals(second.keys[1].kid, `${firstKid}-2`);
  await publish(["badge", "key", "close", firstKid, ...acme, ...keys]);
  const again = await bob.run([...adding, "--yes"]);
  assertMatch(again.stderr, new RegExp(`${firstKid}, closed\n.*${firstKid}-2, new\n`));
  const last = JSON.parse(
    await publish(["badge", "key", "close", firstKid, "--take-out", "--yes", ...acme, ...keys]),
  );
  assertEquals([last.keys.length, last.closed], [1, [firstKid]]);
  assert(!(await Deno.readTextFile(file("stick"))).includes(d));
  await issuer.run(["badge", "key", "close", "2020-01", ...acme, ...keys], { code: 2 });

  await demanded(stack, bob);

  await bob.run(["trust", "mail", "umbrella.org"]);
  await bob.run(["trust", "refresh"]);
  assertMatch(
    (await bob.run(["trust", "list"])).stdout,
    /^acme\.com +\S+ \S+ +keys from the file\numbrella\.org +mailboxes, as the service says$/m,
  );
  await bob.run(["trust", "remove", "umbrella.org"]);
  await bob.run(["trust", "remove", "acme.com"]);
  await bob.run(["trust", "remove", "acme.com"], { code: 4 });
}

/** The keys that a channel requires are those that its owner believes. */
async function required(stack: Stack, owner: User, seed: string): Promise<void> {
  const name = "acme/ops/badged";
  const issuers = ["channel", "issuers", name];
  await owner.run(["channel", "create", name]);
  assertEquals((await owner.run(issuers)).stdout, `Nobody needs a badge in ${name}\n`);
  const { stdout } = await owner.run([...issuers, "--require", "acme.com"]);
  assertMatch(
    stdout,
    /^Every member of acme\/ops\/badged has a badge of:\nacme\.com, key [\w-]{43}\n$/,
  );
  const alone = await owner.run([...issuers, "--remove", "bob"], { code: 2 });
  assertStringIncludes(alone.stderr, "--remove goes with --require");
  await over(stack, owner, { name, seed });
  assertEquals((await owner.json([...issuers, "--require", "none"])).issuers, []);
}

/** Members whose badge is over are listed, and leave with one command. */
async function over(
  stack: Stack,
  owner: User,
  { name, seed }: { readonly name: string; readonly seed: string },
): Promise<void> {
  const members = ["channel", "members", name];
  const alone = await owner.run([...members, "--remove"], { code: 2 });
  assertStringIncludes(alone.stderr, "--remove goes with --expired");
  const removing = [...members, "--expired", "--remove"];
  const nobody = await owner.run(removing);
  assertEquals(
    nobody.stdout,
    `No other member of ${name} is in it by a badge that is over\n`,
  );
  assertEquals((await owner.json([...members, "--expired"])).members, []);
  assertEquals((await owner.json(removing)).removed, []);
  const [self] = (await owner.json(members)).members;
  assertMatch(self.badge_ends_at, /^20\d\d-/);

  // A member that shows an old badge with its next keys.
  const connect = (badge: string | false): Promise<ChannelManager> =>
    ChannelManager.connect({
      ...memberOptions(stack, `${owner.folder}/member`),
      identity: "member",
      badge,
    });
  const first = await connect(false);
  const { agentId } = first.client;
  await first.close();
  const daySeconds = 24 * 60 * 60;
  const badgeUntil = (days: number): string => {
    const notAfter = Math.floor(Date.now() / 1000) + days * daySeconds;
    const secretKey = decodeBase64url(seed) ?? new Uint8Array();
    const unsigned = {
      domain: "acme.com",
      issuerKey: ed25519.getPublicKey(secretKey),
      name: "member",
      agentId,
      notBefore: notAfter - 20 * daySeconds,
      notAfter,
      attributes: [],
    };
    const signature = ed25519.sign(badgeStatement(unsigned), secretKey);
    return formatBadge({ ...unsigned, signature });
  };
  const inviting = owner.start(["channel", "invite", name]);
  const printed = (): Promise<string> => Promise.resolve(inviting.stdout());
  await eventually({ what: "the token" }, printed, (text) => text.endsWith("\n"));
  const member = await connect(badgeUntil(10));
  const channel = await member.joinWithToken(name, inviting.stdout().trim());
  assertEquals((await inviting.done).code, 0);
  await channel.rotate();
  await member.close();
  const older = await connect(badgeUntil(-3));
  try {
    await (await older.channel(name)).rotate();
    const isMember = ({ agent_id }: { agent_id: string }): boolean => agent_id === agentId;
    const expired = async (): Promise<boolean> =>
      (await owner.json([...members, "--expired"])).members.some(isMember);
    await eventually({ what: "its badge is over" }, expired, (is) => is);
    assertMatch(
      (await owner.run(members)).stdout,
      /member, attested by|here by a badge that ended on 20/,
    );
    assertMatch(
      (await owner.run(["channel", "health", name])).stdout,
      new RegExp(`over: ${agentId}`),
    );
    const refused = await owner.run(removing, { code: 2 });
    assertMatch(refused.stderr, new RegExp(`badges are over of:\n${agentId} .*, since 20`));
    assertMatch(refused.stderr, /Not confirmed: Remove 1 member from/);
    const { removed } = await owner.json([...removing, "--yes"]);
    assertEquals(removed.length, 1);
    assertEquals((await owner.json(members)).members.some(isMember), false);
  } finally {
    await older.close();
  }
}

function memberOptions(stack: Stack, dataDir: string): Omit<ConnectOptions, "identity"> {
  return {
    endpoint: stack.quicUrl,
    apiUrl: stack.api.url,
    apiKey: stack.account.apiKey,
    tls: { caFile: stack.caFile },
    cover: "off",
    dataDir,
  };
}

/** An agent that acme.com does not attest invites, whatever it calls itself. */
async function demanded(stack: Stack, bob: User): Promise<void> {
  const stranger = await ChannelManager.connect({
    ...memberOptions(stack, `${bob.folder}/stranger`),
    identity: "ceo@acme.com",
  });
  try {
    const name = "acme/ops/issued";
    const channel = await stranger.create(name);
    const input = `${await stranger.invite(name)}\n`;
    const joining = ["channel", "join", name, "--from"];
    const unknown = await bob.run([...joining, "evil.example"], { input, code: 2 });
    assertStringIncludes(unknown.stderr, '"evil.example" is not in your trust list');
    const { stderr } = await bob.run([...joining, "acme.com"], { input, code: 4 });
    assertStringIncludes(
      stderr.replace(/\s+/g, " "),
      `agent ${stranger.client.agentId}, which invited it, is not attested by acme.com for this user`,
    );
    const { channels } = await bob.json(["channel", "list"]);
    assertEquals(channels.filter((each: { name: string }) => each.name === name), []);
    const token = await stranger.invite(name);
    const other = await bob.run(["channel", "join", name, "--agent", "other"], {
      input: `${token}\n`,
    });
    assertStringIncludes(other.stdout, 'calls itself "ceo@acme.com"');
    assertEquals(channel.health().issues, []);
  } finally {
    await stranger.close();
  }
}

/** Sites of some domains, behind one certificate, and the way there. */
class Web implements AsyncDisposable {
  readonly proxy: ConnectProxy;
  readonly caFile: string;
  /** By domain. */
  readonly answers = new Map<string, (request: Request) => Response | Promise<Response>>();
  readonly #folder: string;
  readonly #server: Deno.HttpServer;

  private constructor(folder: string, caFile: string, tls: { cert: string; key: string }) {
    this.#folder = folder;
    this.caFile = caFile;
    this.#server = Deno.serve(
      { hostname: "localhost", port: 0, onListen: () => {}, ...tls },
      (request) =>
        this.answers.get(new URL(request.url).hostname)?.(request) ??
          new Response(null, { status: 404 }),
    );
    // cast: it listens on a port
    const { port } = this.#server.addr as Deno.NetAddr;
    const domains = ["acme.com", "moved.com", "long.com", "silent.com", "other.com", "wrong.com"];
    this.proxy = startConnectProxy(
      Object.fromEntries(domains.map((domain) => [`${domain}:443`, port])),
    );
  }

  static async start(folder: string): Promise<Web> {
    const dns = ["acme.com", "moved.com", "long.com", "silent.com", "other.com"];
    const tls = await createCertificate({ dns });
    await Deno.writeTextFile(`${folder}/web.pem`, tls.cert);
    return new Web(folder, `${folder}/web.pem`, tls);
  }

  /** `static` as a program of its own, behind the proxy. */
  async run(words: readonly string[]): Promise<{ code: number; said: string }> {
    const main = new URL("../../cli/main.ts", import.meta.url).pathname;
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--quiet", main, ...words],
      env: {
        HTTPS_PROXY: `http://127.0.0.1:${this.proxy.port}`,
        ALL_PROXY: "",
        NO_PROXY: "",
        NO_COLOR: "1",
        DENO_NO_UPDATE_CHECK: "1",
        XDG_CONFIG_HOME: `${this.#folder}/config`,
        XDG_DATA_HOME: `${this.#folder}/data`,
      },
      stdin: "null",
    }).output();
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assertNoStackTrace(said);
    return { code, said };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    await this.proxy[Symbol.asyncDispose]();
  }
}

async function byWeb(): Promise<void> {
  await using user = await User.create();
  await using web = await Web.start(user.folder);
  const documentOf = async (...words: string[]): Promise<string> =>
    (await user.run(["badge", ...words, "--domain", "acme.com"])).stdout;
  const serve = (text: string) => (): Response => new Response(text);
  const first = await documentOf("key", "new");
  web.answers.set("acme.com", serve(first));
  web.answers.set("other.com", serve(first));
  web.answers.set("long.com", serve(`${first}${" ".repeat(17 * 1024)}`));
  const location = `https://acme.com${path}`;
  web.answers.set("moved.com", () => new Response(first, { status: 302, headers: { location } }));
  const never = Promise.withResolvers<Response>();
  web.answers.set("silent.com", () => never.promise);
  const trusting = ["--yes", "--ca-file", web.caFile];
  const runs: string[] = [];
  const late = /no answer within 5 seconds/;
  const add = async (domain: string): ReturnType<Web["run"]> => {
    runs.push(`CONNECT ${domain}:443 HTTP/1.1`);
    const ended = await web.run(["trust", "add", domain, ...trusting]);
    // A busy machine may be too late for a domain that answers.
    return late.test(ended.said) && domain !== "silent.com" ? await add(domain) : ended;
  };
  const domains = ["acme.com", "other.com", "long.com", "moved.com", "silent.com", "wrong.com"];
  const [added, ...refused] = await Promise.all([...domains, "nowhere.com"].map(add));
  never.resolve(new Response(first));
  assertEquals(added?.code, 0, added?.said);
  assertEquals(
    refused.map(({ code }) => code),
    [2, 2, 2, 5, 5, 5],
    refused.map(({ said }) => said).join(),
  );
  const says = [
    /it is of the domain "acme\.com"/,
    /more than 16384 bytes/,
    /status 302, and a redirect is not followed/,
    /silent\.com\S+: no answer within 5 seconds/,
    /wrong\.com\S+: /,
    /nowhere\.com\S+: .*403/,
  ];
  says.forEach((each, at) => assertMatch(refused[at]?.said ?? "", each));
  // Each was asked for once, on its own port 443, and the redirect led nowhere.
  assertEquals([...web.proxy.asked].sort(), runs.sort());
  // The certificates of the service alone make no domain.
  const { code, said } = await web.run(["trust", "add", "acme.com", "--yes"]);
  assertEquals([code, /certificate/i.test(said)], [5, true], said);

  // Nothing is asked of a domain that only a badge names, nor of one that came as a file.
  const before = web.proxy.asked.length;
  const { stdout: foreign } = await user.run([
    ...["badge", "issue", "--domain", "acme.com", "--name", "x", "--agent", "c".repeat(22)],
  ]);
  for (
    const words of [
      ["badge", "show", foreign.trim()],
      ["trust", "list"],
      ["trust", "mail", "umbrella.org"],
      ["badge", "document", "--domain", "acme.com"],
    ]
  ) {
    await web.run(words);
  }
  assertEquals(web.proxy.asked.length, before);

  // A thief holds the web server, and then the true owner has it again, with one key more.
  const refresh = async (): Promise<string> => {
    const { code, said } = await web.run(["trust", "refresh", "--ca-file", web.caFile]);
    assertEquals(code, 0, said);
    return said;
  };
  const thief = JSON.parse(first);
  thief.keys[0].x = "A".repeat(43);
  web.answers.set("acme.com", serve(JSON.stringify(thief)));
  assertMatch(await refresh(), /^acme\.com: issuer_keys_changed: .*trust add acme\.com$/m);
  assertMatch((await web.run(["trust", "list"])).said, /acme\.com .*issuer_keys_changed/);
  assertMatch(await readNumbers(web), /^(\d{5} ?){8}$/);
  web.answers.set("acme.com", serve(await documentOf("key", "new")));
  assertMatch(await refresh(), /^acme\.com: a new key, which an older one endorses, is believed$/m);
  assertMatch(await refresh(), /^acme\.com: no other keys$/m);
  assertMatch(await readNumbers(web), /^(\d{5} ?){8},(\d{5} ?){8}$/);
  web.answers.delete("acme.com");
  assertMatch(await refresh(), /^acme\.com: .*status 404$/m);
  assertMatch(await readNumbers(web), /,/);
}

/** The owner of acme.com, of an agent, and a reader, each with a folder of its own. */
async function fromNothing(stack: Stack): Promise<void> {
  const service = async (): Promise<Record<string, string>> => ({
    STATIC_API_URL: stack.api.url,
    STATIC_RELAY_URL: stack.quicUrl,
    STATIC_CA_FILE: stack.caFile,
    STATIC_API_KEY: (await stack.api.signUp()).apiKey,
  });
  await using acme = await User.create();
  await using bob = await User.create(await service());
  const account = await service();
  await using reader = await User.create(account);
  await using web = await Web.start(reader.folder);
  const { agent_id } = await bob.json(["agents", "number"]);

  const document = await acme.run(["badge", "key", "new", "--domain", "acme.com"]); // 1
  web.answers.set("acme.com", () => new Response(document.stdout)); // the static web site
  const named = ["--domain", "acme.com", "--name", "deploy-bot"];
  const badge = await acme.run(["badge", "issue", ...named, "--agent", agent_id]); // 2
  await bob.run(["badge", "use", badge.stdout.trim()]); // 3
  const added = await web.run(["trust", "add", "acme.com", "--yes", "--ca-file", web.caFile]); // 4
  assertEquals(added?.code, 0, added?.said);

  const name = "acme/ops/deploy";
  await bob.run(["channel", "create", name]);
  const inviting = bob.start(["channel", "invite", name]);
  const printed = (): Promise<string> => Promise.resolve(inviting.stdout());
  await eventually({ what: "the token" }, printed, (text) => text.endsWith("\n"));
  const joining = ["channel", "join", name, "--from", "acme.com"];
  const joined = await reader.run(joining, { input: inviting.stdout() });
  assertEquals((await inviting.done).code, 0);
  assertStringIncludes(joined.stdout, "deploy-bot, attested by acme.com");
  const { stdout } = await reader.run(["channel", "members", name]);
  assertStringIncludes(stdout, "anyone can choose this name. Owners: acme.com (1)");
  const { members } = await reader.json(["channel", "members", name]);
  assertEquals(members[0].attested.name, "deploy-bot");
  // The other side has no list, and sees nothing but a claim.
  const { stdout: back } = await bob.run(["channel", "members", name]);
  assert(!back.includes("attested"), back);
}

async function readNumbers(web: Web): Promise<string> {
  const { domains } = JSON.parse((await web.run(["trust", "list", "--json"])).said);
  return domains[0].keys.map(({ number }: { number: string }) => number).join();
}
