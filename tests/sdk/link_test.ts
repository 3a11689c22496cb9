// Links with a really running relay and API: a guest with nothing but a link, links that are no
// good, and what servers see of them.
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { formatJoinLink, type JoinLink, parseJoinLink } from "../../proto/mod.ts";
import {
  type CellTap,
  ChannelManager,
  type ConnectOptions,
  type ErrorCode,
  StaticClient,
  StaticError,
} from "../../sdk/mod.ts";
import { stopHost } from "../support/hosts.ts";
import { createCertificate } from "../support/mod.ts";
import { read, until } from "../support/scenario/stage.ts";
import { shareStack } from "../support/shared_stack.ts";
import type { SharedStack } from "../support/stack.ts";

const name = "acme/links/room";
const cover = { mode: "off" } as const;

/** A stack, an owner with a channel, and folders for guests. */
class Scene implements AsyncDisposable {
  readonly stack: SharedStack;
  readonly folder: string;
  readonly owner: ChannelManager;
  #guests = 0;

  private constructor(stack: SharedStack, folder: string, owner: ChannelManager) {
    this.stack = stack;
    this.folder = folder;
    this.owner = owner;
  }

  static async open(): Promise<Scene> {
    const stack = await shareStack();
    const folder = await Deno.makeTempDir({ prefix: "static-links-" });
    const { api, account: { apiKey } } = stack;
    const dataDir = `${folder}/owner`;
    const owner = await ChannelManager.connect({
      apiUrl: api.url,
      apiKey,
      dataDir,
      identity: "owner",
      cover,
    });
    await owner.create(name);
    return new Scene(stack, folder, owner);
  }

  /** An agent of this machine that has never been here. */
  newcomer(link: string, more: Partial<ConnectOptions> = {}): ConnectOptions {
    const identity = `guest ${++this.#guests}`;
    return { link, dataDir: `${this.folder}/${identity}`, identity, cover, ...more };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.owner.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function refused(code: ErrorCode, text: string, act: () => Promise<unknown>): Promise<void> {
  const error = await assertRejects(act, StaticError);
  assertEquals(error.code, code, error.message);
  assertStringIncludes(error.message, text);
}

function changed(link: string, change: (link: JoinLink) => JoinLink): string {
  return formatJoinLink(change(parseJoinLink(link)));
}

Deno.test("a guest with nothing but a link", async (t) => {
  await using scene = await Scene.open();
  const { owner, stack } = scene;

  await t.step("joins and speaks, and its program is the same after a restart", async () => {
    const link = await owner.inviteLink(name, { guest: true });
    const startedMs = performance.now();
    const options = scene.newcomer(link);
    await using client = await StaticClient.connect(options);
    const channel = await client.join(link);
    await channel.send("hello");
    console.log(
      `Deno, from link to first message: ${Math.round(performance.now() - startedMs)} ms, 3 calls`,
    );
    assertEquals(await read(await owner.channel(name), 1), ["hello"]);
    await client.close();
    await using again = await StaticClient.connect(options);
    await (await again.join(link)).send("again");
    assertEquals(await read(await owner.channel(name), 1), ["again"]);
  });

  await t.step("through the host of its agent", async () => {
    const link = await owner.inviteLink(name, { guest: true, web: true });
    const options: ConnectOptions = { ...scene.newcomer(link), host: "auto" };
    await using guest = await ChannelManager.connect(options);
    await (await guest.join(link)).send("through a host");
    assertEquals(await read(await owner.channel(name), 1), ["through a host"]);
    await guest.close();
    assert(await stopHost(options.dataDir));
  });

  await t.step("can do nothing but be in its channel", async () => {
    const link = await owner.inviteLink(name, { guest: true });
    await using guest = await ChannelManager.connect(scene.newcomer(link));
    await guest.join(link);
    await assertRejects(() => guest.create("acme/links/own"), StaticError);
    await assertRejects(() => guest.invite(name), StaticError);
    await assertRejects(() => guest.inviteLink(name, { guest: true }), StaticError);
  });

  await t.step(
    "lets nobody in, also with a key of another account, until an owner makes it a member",
    async () => {
      const link = await owner.inviteLink(name, { guest: true });
      const { link: _, ...directory } = scene.newcomer(link);
      const guest = await ChannelManager.connect({ ...directory, link });
      await guest.join(link);
      const { agentId } = guest.client;
      await guest.close();
      const { apiKey } = await stack.api.signUp();
      const channel = await owner.channel(name);
      await using withKey = await ChannelManager.connect({
        ...directory,
        apiUrl: stack.api.url,
        apiKey,
      });
      assert(channel.members().some((member) => member.agentId === agentId && member.guest));
      for (const options of [{}, { guest: true }]) {
        await refused(
          "not_allowed",
          "a guest lets nobody in",
          () => withKey.inviteLink(name, options),
        );
      }
      await channel.promote(agentId, { to: "member" });
      const own = await withKey.channel(name);
      await until(
        "it is no guest",
        () => own.members().every((member) => !member.guest || member.agentId !== agentId),
      );
      const friendsLink = await withKey.inviteLink(name);
      const friend = scene.newcomer(friendsLink, { apiUrl: stack.api.url, apiKey });
      await using stranger = await StaticClient.connect(friend);
      await (await stranger.join(friendsLink)).send("let in by a member");
      assertEquals(await read(channel, 1), ["let in by a member"]);
      assert(
        channel.members().some((member) => member.agentId === stranger.agentId && !member.guest),
      );
    },
  );

  await t.step(
    "keeps its channel when another link is for a channel of the same name",
    async () => {
      const { apiKey } = await stack.api.signUp();
      const theirs = {
        apiUrl: stack.api.url,
        apiKey,
        dataDir: `${scene.folder}/stranger`,
        identity: "stranger",
        cover,
      };
      await using stranger = await ChannelManager.connect(theirs);
      await stranger.create(name);
      const link = await owner.inviteLink(name, { guest: true });
      const options = scene.newcomer(link);
      const guest = await StaticClient.connect(options);
      await guest.join(link);
      await guest.close();
      const other = await stranger.inviteLink(name, { guest: true });
      const visitor = await StaticClient.connect({ ...options, link: other });
      await refused("name_taken", "another channel", () => visitor.join(other));
      await refused("name_taken", "another channel", () => visitor.createChannel(name));
      await refused("not_allowed", "is not for channel", () => visitor.closeChannel(name));
      await refused(
        "not_allowed",
        "is not for channel",
        async () => (await visitor.channel(name)).leave(),
      );
      await visitor.close();
      await using again = await StaticClient.connect(options);
      await (await again.join(link)).send("still here");
      assertEquals(await read(await owner.channel(name), 1), ["still here"]);
    },
  );

  await t.step("that is removed loses its pass, too", async () => {
    const link = await owner.inviteLink(name, { guest: true });
    const options = scene.newcomer(link);
    const client = await StaticClient.connect(options);
    await client.join(link);
    await (await owner.channel(name)).removeMember(client.agentId);
    const { pass: key = "" } = parseJoinLink(link);
    await until("the pass is revoked", async () => {
      return (await stack.api.call("POST", "/v1/tokens", { key })).status === 401;
    });
    await client.close();
    await refused("auth_key_invalid", "ask for a new link", () => StaticClient.connect(options));
  });
});

Deno.test("a link that cannot be used says why and what to do, and leaves nothing half-done", async (t) => {
  await using scene = await Scene.open();
  const { owner, stack } = scene;
  const link = await owner.inviteLink(name, { guest: true });
  const connect = (text: string, more?: Partial<ConnectOptions>): Promise<unknown> =>
    StaticClient.connect(scene.newcomer(text, more));
  /** Of an agent that has an account, and so needs no pass. */
  const { apiKey } = await stack.api.signUp();
  const own = { apiUrl: stack.api.url, apiKey };
  await using user = await StaticClient.connect(scene.newcomer("", { ...own, link }));
  const join = (text: string): Promise<unknown> => user.join(text, { timeoutMs: 60_000 });

  await t.step("cut short, and changed", async () => {
    await refused("link_invalid", "cut short", () => connect(link.slice(0, -9)));
    await refused("link_invalid", "cut short", () => join(link.slice(0, 30)));
    await refused("link_invalid", "checksum", () => join(link.slice(0, -9) + "A".repeat(9)));
  });
  await t.step("forged: another secret, another inviter", async () => {
    const forged = changed(
      link,
      (each) => ({ ...each, invite: { ...each.invite, secret: new Uint8Array(32) } }),
    );
    await refused("join_rejected", "ask for a new one", () => join(forged));
  });
  await t.step("expired", async () => {
    const expiresInMs = 2_000;
    const short = await owner.inviteLink(name, { expiresInMs });
    // wait: until the relay's clock has passed it; an invite that is over when it arrives is
    // refused at once
    await new Promise((resolve) => setTimeout(resolve, expiresInMs + 100));
    await refused("join_rejected", "ask for a new one", () => join(short));
  });
  await t.step("revoked, with its pass", async () => {
    const withdrawn = await owner.inviteLink(name, { guest: true });
    await owner.revokeInvite(withdrawn);
    await refused("join_rejected", "ask for a new one", () => join(withdrawn));
    await refused("auth_key_invalid", "ask for a new link", () => connect(withdrawn));
  });
  await t.step("used up", async () => {
    const used = await owner.inviteLink(name, { guest: true });
    await using guest = await StaticClient.connect(scene.newcomer(used));
    await guest.join(used);
    await refused("join_rejected", "ask for a new one", () => join(used));
  });
  await t.step("by an agent that calls itself like a member, which stays", async () => {
    const [first, second] = [
      await owner.inviteLink(name, { guest: true }),
      await owner.inviteLink(name, { guest: true }),
    ];
    const identity = "operations";
    await using member = await StaticClient.connect(scene.newcomer(first, { identity }));
    await member.join(first);
    await using stranger = await StaticClient.connect(scene.newcomer(second, { identity }));
    await refused(
      "identity_present",
      member.agentId,
      () => stranger.join(second, { timeoutMs: 60_000 }),
    );
    assert((await owner.channel(name)).members().some(({ agentId }) => agentId === member.agentId));
  });
  await t.step("without a pass, for an agent without an account", async () => {
    await refused(
      "auth_failed",
      "static signup",
      async () => connect(await owner.inviteLink(name)),
    );
  });
  await t.step("for another service", async () => {
    const elsewhere = changed(link, (each) => ({ ...each, apiUrl: "https://api.example" }));
    await refused("invalid_request", "https://api.example", () => join(elsewhere));
    const moved = changed(link, (each) => ({ ...each, relayUrls: ["quic://relay.example:4433"] }));
    await refused("link_invalid", "other relays", () => connect(moved));
  });
  await t.step(
    "for another service than the one where its agent has a key of its own",
    async () => {
      const { link: _, ...agent } = scene.newcomer(link);
      await (await StaticClient.connect({ ...agent, ...own })).close();
      const elsewhere = changed(link, (each) => ({ ...each, apiUrl: "https://api.example" }));
      await refused(
        "invalid_request",
        "directory of its own",
        () => StaticClient.connect({ ...agent, link: elsewhere }),
      );
      await (await StaticClient.connect({ ...agent, link })).close();
    },
  );
  await t.step(
    "with another authority than the one where its agent has a key of its own",
    async () => {
      const { link: _, ...agent } = scene.newcomer(link);
      await (await StaticClient.connect({ ...agent, ...own })).close();
      const { der } = await anotherAuthority();
      const forged = changed(
        link,
        (each) => ({ ...each, authority: { kind: "certificate", der } }),
      );
      await refused(
        "certificate_changed",
        "ask its operator",
        () => StaticClient.connect({ ...agent, link: forged }),
      );
      await (await StaticClient.connect({ ...agent, link })).close();
    },
  );
  await t.step(
    "for any service, where its agent was connected with a token of one that is not known",
    async () => {
      const { link: _, ...agent } = scene.newcomer(link);
      const { token } = (await stack.api.call("POST", "/v1/tokens", { key: apiKey })).json;
      const tls = { caFile: stack.caFile };
      await (await StaticClient.connect({ ...agent, token, endpoint: stack.quicUrl, tls })).close();
      await refused(
        "invalid_request",
        "give its address as apiUrl",
        () => StaticClient.connect({ ...agent, link }),
      );
      await (await StaticClient.connect({ ...agent, link, apiUrl: own.apiUrl })).close();
    },
  );
  await t.step("with an authority that is none", async () => {
    const der = Uint8Array.of(0x30, 0x82, 1, 0, ...new Uint8Array(256));
    const wrong = changed(link, (each) => ({ ...each, authority: { kind: "certificate", der } }));
    await refused("link_invalid", "not a certificate", () => connect(wrong));
  });
  await t.step("to a relay with another authority, or another certificate", async () => {
    const other = changed(
      link,
      (each) => ({ ...each, authority: { kind: "hash", sha256: new Uint8Array(32) } }),
    );
    await refused("certificate_changed", "0000000000000000", () => connect(other));
    const { authority: _, ...rest } = parseJoinLink(link);
    await refused("certificate_changed", "none", () => connect(formatJoinLink(rest)));
    const { der } = await anotherAuthority();
    const wrong = changed(link, (each) => ({ ...each, authority: { kind: "certificate", der } }));
    const options = scene.newcomer(wrong);
    await refused("connection_error", "", () => StaticClient.connect(options));
    // The same folder, with the right link.
    await using guest = await StaticClient.connect({ ...options, link });
    await guest.join(link);
    await refused("certificate_changed", "ask its operator", async () => {
      await guest.close();
      await StaticClient.connect({ ...options, link: wrong });
    });
  });
  await t.step("and the agent that tried them all is as good as new", async () => {
    const good = await owner.inviteLink(name);
    await (await user.join(good)).send("here");
    assertEquals(await read(await owner.channel(name), 1), ["here"]);
  });
});

Deno.test("a saved key does not lead a directory to the address of a link, with a host or without", async () => {
  await using scene = await Scene.open();
  const { server, url } = recordingProxy(scene.stack.api.url, []);
  const { apiKey } = scene.stack.account;
  const link = await scene.owner.inviteLink(name);
  const { link: _, ...agent } = scene.newcomer(link);
  const saved = { STATIC_API_URL: scene.stack.api.url, STATIC_API_KEY: apiKey };
  try {
    // To the directory, the same service by another address is another service.
    await (await StaticClient.connect({ ...agent, apiUrl: url, apiKey })).close();
    for (const [variable, value] of Object.entries(saved)) Deno.env.set(variable, value);
    for (const host of ["off", "auto"] as const) {
      const options = { ...agent, link, host };
      await refused("invalid_request", "directory of its own", () => StaticClient.connect(options));
    }
    // It is used for a directory that has none yet.
    const other = { ...scene.newcomer(link), host: "auto" } as const;
    await (await StaticClient.connect(other)).close();
    assert(await stopHost(other.dataDir));
  } finally {
    for (const variable of Object.keys(saved)) Deno.env.delete(variable);
    await server.shutdown();
  }
});

async function anotherAuthority(): Promise<{ readonly der: Uint8Array }> {
  const { cert } = await createCertificate();
  const [, base64 = ""] = /-----BEGIN CERTIFICATE-----([^-]+)/.exec(cert) ?? [];
  return { der: Uint8Array.fromBase64(base64.replaceAll(/\s/g, "")) };
}

Deno.test("nothing of a link's secret reaches the API or the relay, and no key goes where a link says", async () => {
  await using scene = await Scene.open();
  const seen: string[] = [];
  const { server, url } = recordingProxy(scene.stack.api.url, seen);
  const cells: Uint8Array[] = [];
  try {
    const given = parseJoinLink(await scene.owner.inviteLink(name, { guest: true }));
    // The same service by another address, at which everything is seen.
    const link = formatJoinLink({ ...given, apiUrl: url }, { web: true });
    const { apiKey } = await scene.stack.api.signUp();
    const tap: CellTap = (bytes, _cellBytes, direction) => {
      if (direction === "sent") cells.push(bytes.slice());
    };
    // A key of another service, given without its address and with it.
    await using first = await StaticClient.connect(scene.newcomer(link, { apiKey, tap }));
    await (await first.join(link)).send("seen");
    await fetch(link);
    const { secret } = given.invite;
    const forms = [
      secret.toBase64(),
      secret.toBase64({ alphabet: "base64url", omitPadding: true }),
      secret.toHex(),
    ];
    const payload = link.slice(link.indexOf("#") + 1);
    assert(seen.length >= 3 && cells.length > 5, `${seen.length} requests, ${cells.length} cells`);
    for (const request of seen) {
      for (const form of [...forms, payload.slice(0, 40), apiKey]) {
        assert(!request.includes(form), request);
      }
    }
    const withPass = seen.filter((request) => request.includes(given.pass ?? "?"));
    assert(
      withPass.every((request) => request.startsWith("POST /v1/tokens")),
      "the pass is for tokens alone",
    );
    const wire = cells.map((cell) => String.fromCharCode(...cell)).join("");
    for (const part of [String.fromCharCode(...secret), given.pass ?? "?", payload.slice(0, 40)]) {
      assert(!wire.includes(part));
    }
  } finally {
    await server.shutdown();
  }
});

/** Forwards to the API, and keeps every request as text. */
function recordingProxy(
  target: string,
  seen: string[],
): { readonly server: Deno.HttpServer; readonly url: string } {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = request.body === null ? "" : await request.text();
      const headers = [...request.headers].map((each) => each.join(": ")).join("\n");
      seen.push(
        `${request.method} ${
          request.url.slice(request.url.indexOf(pathname))
        }\n${headers}\n${body}`,
      );
      const { method } = request;
      const answer = await fetch(target + pathname + search, {
        method,
        headers: request.headers,
        ...(body && { body }),
      });
      return new Response(await answer.text(), { status: answer.status, headers: answer.headers });
    },
  );
  return { server, url: `http://127.0.0.1:${server.addr.port}` };
}
