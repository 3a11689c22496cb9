/** Agents with a key of a really running API show the badge of their account, and their own. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { accountOf, type AgentId, formatBadge } from "../../proto/mod.ts";
import { ChannelManager, type ConnectOptions, StaticError } from "../../sdk/mod.ts";
import { Issuer } from "../../sdk/mls/testing/issuer.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { type Agent, connectAgent, Inside, readBadges } from "../../sdk/testing/agents.ts";
import { startTestApi } from "../support/api/harness.ts";
import { eventually } from "../support/mod.ts";
import { readEnvelopes } from "../support/scenario/stage.ts";
import { type Stack, startStack } from "../support/stack.ts";

const name = "acme/accounts/room";
const issuer = new Issuer();
const nowSeconds = (): number => Math.floor(Date.now() / 1000) - 60;

/** The badges of each member, in words. */
async function shownTo(agent: Agent, accounts: Record<string, string>): Promise<object> {
  const { group } = await Inside.of(agent, name);
  return Object.fromEntries(
    group.members().map(({ identity, agentId, badges }) => {
      const words = readBadges(badges).map((badge) => {
        assertEquals(badge.agentId, agentId);
        return `${badge.name} at ${accounts[accountOf(badge) ?? ""] ?? badge.domain}`;
      });
      return [new TextDecoder().decode(identity), words];
    }),
  );
}

class Scene implements AsyncDisposable {
  readonly stack: Stack;
  readonly #folder: string;
  readonly #open = new AsyncDisposableStack();

  private constructor(stack: Stack, folder: string) {
    [this.stack, this.#folder] = [stack, folder];
  }

  static async open(): Promise<Scene> {
    return new Scene(await startStack(), await Deno.makeTempDir({ prefix: "static-own-" }));
  }

  path(name: string): string {
    return `${this.#folder}/${name}`;
  }

  async connect(
    identity: string,
    options: Partial<ConnectOptions> = {},
  ): Promise<{ readonly agent: Agent; readonly manager: ChannelManager }> {
    const { api, account, quicUrl, caFile } = this.stack;
    const agent = await connectAgent({
      apiUrl: api.url,
      ...(options.link === undefined &&
        { apiKey: account.apiKey, endpoint: quicUrl, tls: { caFile } }),
      dataDir: this.path(identity),
      identity,
      cover: { mode: "off" },
      ...options,
    }, platform);
    const manager = await ChannelManager.over(agent);
    this.#open.defer(() => manager.close());
    return { agent, manager };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open.disposeAsync();
    await this.stack[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

Deno.test("agents with a key show the badge of their account by themselves, and one of a domain before it", async () => {
  await using scene = await Scene.open();
  const { api, account } = scene.stack;
  const other = await api.signUp();
  const accounts = { [account.id]: "ours", [other.id]: "theirs" };
  const owner = await scene.connect("owner");
  const channel = await owner.manager.create(name);
  const enter = async (
    identity: string,
    options: Partial<ConnectOptions>,
  ): Promise<ChannelManager> => {
    const { manager } = await scene.connect(identity, options);
    await manager.joinOrOpen(name, await owner.manager.invite(name));
    return manager;
  };
  const same = await enter("same account", {});
  const theirs = await enter("other account", { apiKey: other.apiKey });
  await enter("silent", { badge: false });
  const link = await owner.manager.inviteLink(name, { guest: true });
  const guest = await scene.connect("guest", { link });
  await guest.manager.join(link);
  const path = scene.path("badge");
  const of: { id?: AgentId } = {};
  const domain = await scene.connect("domain", {
    badge: () => of.id && formatBadge(issuer.badge(of.id, { notBefore: nowSeconds() })),
  });
  const late = of.id = domain.agent.agentId;
  await domain.manager.close();
  await Deno.writeTextFile(
    path,
    formatBadge(issuer.badge(late, { notBefore: nowSeconds() })) + "\n",
  );
  await enter("domain", { badge: path });
  await enter("no file yet", { badge: scene.path("nothing") });
  assertEquals(await shownTo(owner.agent, accounts), {
    owner: ["account at ours"],
    "same account": ["account at ours"],
    "other account": ["account at theirs"],
    silent: [],
    guest: [],
    domain: ["deploy-bot at acme.com", "account at ours"],
    "no file yet": ["account at ours"],
  });
  const known = async (manager: ChannelManager): Promise<string[]> => {
    const members = await (await manager.channel(name)).members();
    const ours = members.filter(({ sameAccount }) => sameAccount);
    return ours.map(({ identity }) => identity);
  };
  const ours = ["owner", "same account", "domain", "no file yet"];
  assertEquals((await known(owner.manager)).toSorted(), ours.toSorted());
  assertEquals(await known(theirs), ["other account"]);
  // Its pass is of our account, and it is not.
  assertEquals(await known(guest.manager), []);
  await (await theirs.channel(name)).send("theirs");
  await (await same.channel(name)).send("ours");
  const heard = await readEnvelopes(channel, 2);
  assertEquals(heard.map((envelope) => [envelope.text(), envelope.sender.sameAccount]), [
    ["theirs", false],
    ["ours", true],
  ]);
});

Deno.test("a badge that is none, or another agent's, is told when its agent connects, with what to do", async () => {
  await using scene = await Scene.open();
  const { agent } = await scene.connect("honest");
  const foreign = formatBadge(issuer.badge(agent.agentId, { notBefore: nowSeconds() }));
  const refused = async (badge: ConnectOptions["badge"], text: string): Promise<void> => {
    const error = await assertRejects(() => scene.connect("thief", { badge }), StaticError);
    assertEquals(error.code, "invalid_request");
    assertStringIncludes(error.message, text);
  };
  await refused(foreign, `it is of agent ${agent.agentId}, and this is `);
  await refused(() => foreign, "ask its issuer for one of this agent");
  await refused("badge_AAAA", "Cannot connect");
  const path = scene.path("broken");
  await Deno.writeTextFile(path, "what is this");
  await refused(path, "Cannot connect");
});

Deno.test("a badge that comes later is in the KeyPackages by which its agent is added, and in the next commit of a member", async () => {
  await using scene = await Scene.open();
  const owner = await scene.connect("owner");
  const channel = await owner.manager.create(name);
  const [first, second] = [scene.path("first"), scene.path("second")];
  const member = await scene.connect("member", { badge: first });
  await member.manager.joinOrOpen(name, await owner.manager.invite(name));
  const newcomer = await scene.connect("newcomer", { badge: second });
  const write = async (path: string, agentId: AgentId): Promise<void> =>
    await Deno.writeTextFile(
      path,
      formatBadge(issuer.badge(agentId, { notBefore: nowSeconds() })),
    );
  await write(first, member.agent.agentId);
  await write(second, newcomer.agent.agentId);
  await member.manager.close();
  await newcomer.manager.close();
  // Between two starts, as while they run: both ask the same source.
  const [again, added] = await Promise.all([
    scene.connect("member", { badge: first }),
    scene.connect("newcomer", { badge: second }),
  ]);
  await eventually(
    { what: "the relay has other KeyPackages" },
    () => Promise.resolve(added.agent.keyPackages.isResting),
    (isResting) => isResting,
  );
  await channel.addMember(added.agent.agentId);
  await (await again.manager.channel(name)).rotate();
  const both = ["deploy-bot at acme.com", "account at static.localhost"];
  await eventually(
    { what: "the owner sees the badges" },
    () => shownTo(owner.agent, {}),
    (shown) =>
      JSON.stringify(shown) ===
        JSON.stringify({ owner: both.slice(1), member: both, newcomer: both }),
  );
});

Deno.test("with an API from before badges, or one without a name, agents connect as ever", async () => {
  await using scene = await Scene.open();
  const { backend } = scene.stack;
  // The same accounts and relay, by an API that does not know its own address.
  const api = await startTestApi({
    ...backend.environment,
    STATIC_TLS_TERMINATED: "true",
    STATIC_TRUSTED_PROXIES: "127.0.0.1",
  });
  try {
    const options = { apiUrl: api.url };
    assertEquals((await api.call("GET", "/.well-known/static-agents")).status, 404);
    const { agent, manager } = await scene.connect("owner", options);
    await manager.create(name);
    assertEquals(await shownTo(agent, {}), { owner: [] });
    await manager.close();
  } finally {
    await api.close();
  }
});
