/** An agent with a key of a really running API, and the badge that it gets there by itself. */
import { assert, assertEquals } from "@std/assert";
import {
  accountOf,
  type AgentId,
  agentIdOf,
  encodeBase64url,
  parseAccountId,
  parseBadges,
  verifyBadge,
} from "../../proto/mod.ts";
import { runAdmin } from "../../api/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import {
  type AgentService,
  createMemoryDisk,
  createService,
  openMemory as openParts,
  RecordStore,
  ServiceBadge,
} from "../../sdk/testing/agents.ts";
import { anyBackend, readTestConfig, startTestApi, type TestApi } from "../support/api/harness.ts";
import { eventually } from "../support/mod.ts";

const [hourMs, dayMs] = [3_600_000, 86_400_000];

function openMemory(): Promise<RecordStore> {
  return RecordStore.open(openParts(createMemoryDisk(), platform.randomBytes));
}

/** A real API, and how an agent with a key of it knows it. */
class Place implements AsyncDisposable {
  readonly environment: Record<string, string>;
  readonly api: TestApi;
  readonly #close: () => Promise<void>;

  private constructor(
    environment: Record<string, string>,
    api: TestApi,
    close: () => Promise<void>,
  ) {
    this.environment = environment;
    this.api = api;
    this.#close = close;
  }

  static async open(more: Record<string, string> = {}): Promise<Place> {
    const backend = await anyBackend.open();
    const environment = { ...backend.environment, ...more };
    const api = await startTestApi(environment);
    return new Place(environment, api, async () => {
      await api.close();
      await backend.close();
    });
  }

  /** Requests of the agent to the API, by path. */
  service(apiKey: string, asked: string[] = []): AgentService {
    const { url } = this.api;
    const none = { caCerts: [], certificateHashes: [] };
    return createService({
      apiUrl: url,
      apiKey,
      trust: { api: none, relay: none },
      after: platform.after,
      randomBytes: platform.randomBytes,
      openHttp: (trust) => {
        const http = platform.openHttp(trust);
        return {
          ...http,
          request: (address, init) => {
            asked.push(`${init.method} ${new URL(address).pathname}`);
            return http.request(address, init);
          },
          close: () => http.close(),
        };
      },
    });
  }

  badge(
    apiKey: string,
    { store, agentId = newAgentId(), asked }: {
      readonly store: RecordStore;
      readonly agentId?: AgentId;
      readonly asked?: string[];
    },
  ): ServiceBadge {
    const runtime = { nowMs: () => Date.now() + this.api.clock.aheadMs };
    return new ServiceBadge({
      store,
      service: this.service(apiKey, asked),
      agentId,
      runtime,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

function newAgentId(): AgentId {
  const [key, identity] = [new Uint8Array(32), new Uint8Array(8)];
  return agentIdOf(crypto.getRandomValues(key), crypto.getRandomValues(identity));
}

function sorted(asked: string[]): string[] {
  return asked.splice(0).toSorted();
}

const both = ["GET /.well-known/static-agents", "POST /v1/badges"];

Deno.test("an agent gets the badge of its account and the service's keys once, keeps them, and renews each in time", async () => {
  await using place = await Place.open();
  const { api } = place;
  const { id, apiKey } = await api.signUp();
  const store = await openMemory();
  const [agentId, asked]: [AgentId, string[]] = [newAgentId(), []];
  const first = place.badge(apiKey, { store, agentId, asked });
  assertEquals([first.ownAccount(), asked], [undefined, []], "nothing is asked before it is read");
  const text = await first.read() ?? "";
  const [badge] = parseBadges(text);
  assert(badge !== undefined && verifyBadge(badge));
  assertEquals([badge.agentId, accountOf(badge)], [agentId, id]);
  assertEquals(first.ownAccount(), {
    account: parseAccountId(id),
    issuer: { domain: "static.localhost", keys: [badge.issuerKey] },
  });
  assertEquals(sorted(asked), both);
  await Promise.all([first.read(), first.read()]);
  assertEquals(asked, []);

  const again = place.badge(apiKey, { store, agentId, asked });
  assertEquals([await again.read(), asked], [text, []]);
  assertEquals(again.ownAccount(), first.ownAccount());
  assert(again.ownAccount() === again.ownAccount(), "verdicts are kept with it");
  api.clock.aheadMs += dayMs + hourMs;
  assertEquals([await again.read(), sorted(asked)], [text, both.slice(0, 1)]);
  api.clock.aheadMs += 22 * dayMs;
  const renewed = await again.read();
  assert(renewed !== text && renewed !== undefined);
  assertEquals(sorted(asked), both);
  await store.close();
});

Deno.test("what another service, another key or another agent has been given is never taken for one's own", async () => {
  await using place = await Place.open();
  const [one, other] = [await place.api.signUp(), await place.api.signUp()];
  const store = await openMemory();
  const [agentId, asked]: [AgentId, string[]] = [newAgentId(), []];
  await (place.badge(one.apiKey, { store, agentId, asked })).read();
  sorted(asked);
  const moved = place.badge(other.apiKey, { store, agentId, asked });
  assertEquals(moved.ownAccount(), undefined);
  await moved.read();
  assertEquals([moved.ownAccount()?.account, sorted(asked)], [String(other.id), both]);
  // A directory that was copied, and another key in it: the badge names the agent of before.
  const refusing = {
    ...place.service(other.apiKey),
    askBadge: () => Promise.reject(new Error("not now")),
  };
  const runtime = { nowMs: Date.now };
  const copy = new ServiceBadge({ store, service: refusing, agentId: newAgentId(), runtime });
  assertEquals([await copy.read(), copy.ownAccount()], [undefined, undefined]);
  // The service gives the badge of another agent.
  const service = place.service(one.apiKey);
  const foreign = new ServiceBadge({
    store: await openMemory(),
    service: { ...service, askBadge: () => service.askBadge(newAgentId()) },
    agentId,
    runtime: { nowMs: Date.now },
  });
  assertEquals([await foreign.read(), foreign.ownAccount()], [undefined, undefined]);
  await store.close();
});

Deno.test("a service that issues none, a key that gets none and an API that is away change nothing", async () => {
  await using place = await Place.open();
  const { apiKey } = await place.api.signUp();
  const store = await openMemory();
  const channels = [{ pattern: "acme/ops/*", allow: ["send", "receive"] }];
  const narrow = await place.api.call("POST", "/v1/keys", {
    key: apiKey,
    body: { kind: "publishable", channels },
  });
  const visitor = place.badge(narrow.json.key, { store });
  assertEquals([await visitor.read(), visitor.ownAccount()], [undefined, undefined]);
  assertEquals(await visitor.strangersAmong([newAgentId()]), [], "it cannot tell");

  const old = place.service(apiKey);
  const gone = new ServiceBadge({
    store: await openMemory(),
    service: createServiceAt(`${place.api.url}/before`, apiKey, old),
    agentId: newAgentId(),
    runtime: { nowMs: Date.now },
  });
  assertEquals([await gone.read(), gone.ownAccount()], [undefined, undefined]);

  const agentId = newAgentId();
  const kept = await openMemory();
  const text = await (place.badge(apiKey, { store: kept, agentId })).read();
  await place.api.close();
  const away = place.badge(apiKey, { store: kept, agentId });
  place.api.clock.aheadMs += 25 * dayMs;
  assertEquals([await away.read(), away.ownAccount() !== undefined], [text, true]);
  await Promise.all([store.close(), kept.close()]);
});

/** An API from before badges, by its paths. */
function createServiceAt(apiUrl: string, apiKey: string, like: AgentService): AgentService {
  const none = { caCerts: [], certificateHashes: [] };
  const { after, openHttp, randomBytes } = platform;
  const trust = { api: none, relay: none };
  const service = createService({ apiUrl, apiKey, trust, after, openHttp, randomBytes });
  return { ...service, keyPrefix: like.keyPrefix };
}

Deno.test("agents that the account has given no badge are told from others by its list, which is asked for new ones only", async () => {
  await using place = await Place.open();
  const { apiKey } = await place.api.signUp();
  const [ours, one, other, late] = [newAgentId(), newAgentId(), newAgentId(), newAgentId()];
  const asked: string[] = [];
  const badge = place.badge(apiKey, { store: await openMemory(), agentId: ours, asked });
  await badge.read();
  sorted(asked);
  assertEquals(await badge.strangersAmong([ours, one, other]), [one, other]);
  assertEquals(await badge.strangersAmong([ours]), []);
  assertEquals(await badge.strangersAmong([]), []);
  assertEquals(sorted(asked), ["GET /v1/badges"]);
  await place.api.call("POST", "/v1/badges", { key: apiKey, body: { agent_id: late } });
  assertEquals(await badge.strangersAmong([late, ours, one]), [one]);
  assertEquals(sorted(asked), ["GET /v1/badges"]);
});

Deno.test("a key of the service that leaked and was taken out is not believed for longer than a day, and its badges are replaced", async () => {
  await using place = await Place.open();
  const { api, environment } = place;
  const { apiKey } = await api.signUp();
  const [agentId, store] = [newAgentId(), await openMemory()];
  const badge = place.badge(apiKey, { store, agentId });
  const text = await badge.read() ?? "";
  const path = `${environment["STATIC_DATA_DIR"]}/jwt_keys.json`;
  await runAdmin(["rotate-badge-key"], readTestConfig(environment));
  const rings = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...rings, badge_keys: [rings.badge_keys[0]] }));
  await eventually(
    { what: "the API signs with the new key" },
    async () => (await api.call("GET", "/.well-known/static-agents")).text,
    (document) =>
      !document.includes(encodeBase64url(parseBadges(text)[0]?.issuerKey ?? new Uint8Array())),
  );
  api.clock.aheadMs += dayMs + hourMs;
  const next = await badge.read();
  assert(next !== undefined && next !== text);
  const [fresh] = parseBadges(next);
  assert(fresh !== undefined);
  assertEquals(badge.ownAccount()?.issuer.keys, [fresh.issuerKey]);
  await store.close();
});
