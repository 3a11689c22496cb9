/**
 * The memory of a data directory: which service it is of, and by which authorities, when links
 * come.
 */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { platform } from "#platform";
import {
  certificateOfPem,
  encodeApiKey,
  type ErrorCode,
  formatJoinLink,
  type LinkAuthority,
  parseAgentId,
  parseChannelId,
  parseChannelName,
} from "../../proto/mod.ts";
import { createCertificate } from "../../tests/support/mod.ts";
import { StaticError } from "../base/errors.ts";
import { readLinkOptions } from "./connect_link.ts";
import type { RelayOptions } from "../session/open_session.ts";
import { type AgentService, createService } from "../session/service.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";

const withoutSettings = { ...platform, readSettings: () => Promise.resolve({}) };
const pass = encodeApiKey({ environment: "live", lookup: "a".repeat(8), secret: "a".repeat(32) });

/** A public installation, which names no authority, and a directory that nobody has used. */
class Scene implements AsyncDisposable {
  readonly store: RecordStore;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  private constructor(store: RecordStore) {
    this.store = store;
    const discovery = {
      relay: { urls: ["quic://relay.example"] },
      ca: null,
      certificate_hashes: [],
      mail: null,
    };
    const hears = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(hears, () => Response.json(discovery));
  }

  static async open(): Promise<Scene> {
    return new Scene(
      await RecordStore.open(
        openMemory(createMemoryDisk(), (length) => platform.randomBytes(length)),
      ),
    );
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  link(authority?: LinkAuthority, apiUrl = this.apiUrl): string {
    const invite = {
      channelId: parseChannelId("A".repeat(22)),
      name: parseChannelName("acme/links/room"),
      inviter: parseAgentId("B".repeat(22)),
      secret: new Uint8Array(32),
    };
    return formatJoinLink({
      invite,
      apiUrl,
      relayUrls: [],
      pass,
      ...(authority !== undefined && { authority }),
    });
  }

  /**
   * As after a connection that stood. `service` is undefined when nothing says which API it was.
   */
  async connect(options: RelayOptions, service?: AgentService): Promise<RelayOptions> {
    const { options: used, remember } = await readLinkOptions(options, this.store, withoutSettings);
    await remember(service);
    return used;
  }

  /** The user's own connection. */
  async connectOwn(
    caCerts: readonly string[] = [],
    certificateHashes: Uint8Array<ArrayBuffer>[] = [],
  ): Promise<void> {
    const trust = { caCerts, certificateHashes };
    const parts = {
      ...platform,
      apiUrl: this.apiUrl,
      apiKey: "own",
      trust: { api: trust, relay: trust },
    };
    await this.connect({ apiUrl: this.apiUrl, apiKey: "own" }, createService(parts));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    await this.store.close();
  }
}

async function authority(): Promise<{ readonly pem: string; readonly whole: LinkAuthority }> {
  const { cert: pem } = await createCertificate();
  return { pem, whole: { kind: "certificate", der: certificateOfPem(pem) ?? new Uint8Array(0) } };
}

async function refused(code: ErrorCode, text: string, act: () => Promise<unknown>): Promise<void> {
  const error = await assertRejects(act, StaticError);
  assertEquals(error.code, code, error.message);
  assertStringIncludes(error.message, text);
}

Deno.test("a link with an authority of its own is refused where a key of the user has known the service by others", async () => {
  await using scene = await Scene.open();
  const made = await authority();
  await scene.connectOwn();
  await refused(
    "certificate_changed",
    "Expected SHA-256 none",
    () => scene.connect({ link: scene.link(made.whole) }),
  );
  assertEquals((await scene.connect({ link: scene.link() })).apiKey, pass);
});

Deno.test("a link does not change the authorities that a key of the user has shown", async () => {
  await using scene = await Scene.open();
  const [one, other, forged] = [await authority(), await authority(), await authority()];
  await scene.connectOwn([`${one.pem}\n${other.pem}`]);
  for (const { whole } of [one, other, one]) await scene.connect({ link: scene.link(whole) });
  await refused(
    "certificate_changed",
    " or ",
    () => scene.connect({ link: scene.link(forged.whole) }),
  );
});

Deno.test("a key of the user replaces the authority of a link, and a link that of no other link", async () => {
  await using scene = await Scene.open();
  const [forged, real] = [await authority(), await authority()];
  await scene.connect({ link: scene.link(forged.whole) });
  await refused(
    "certificate_changed",
    "Expected",
    () => scene.connect({ link: scene.link(real.whole) }),
  );
  await scene.connectOwn([real.pem]);
  await scene.connect({ link: scene.link(real.whole) });
  await refused(
    "certificate_changed",
    "Expected",
    () => scene.connect({ link: scene.link(forged.whole) }),
  );
});

Deno.test("where the user has known a relay by its own certificate, a link makes nobody an authority of the API", async () => {
  await using scene = await Scene.open();
  const made = await authority();
  await scene.connectOwn([], [new Uint8Array(32)]);
  await refused(
    "certificate_changed",
    "Expected",
    () => scene.connect({ link: scene.link(made.whole) }),
  );
  await scene.connect({ link: scene.link() });
});

Deno.test("a directory that was used with a token alone takes a link only beside the user's own word for its address", async () => {
  await using scene = await Scene.open();
  const link = scene.link();
  await scene.connect({ token: "of a service", endpoint: "quic://relay.example" });
  await refused("invalid_request", "give its address as apiUrl", () => scene.connect({ link }));
  const apiUrl = "https://api.example";
  await refused(
    "invalid_request",
    "give its address as apiUrl",
    () => scene.connect({ link, apiUrl }),
  );
  assertEquals((await scene.connect({ link, apiUrl: `${scene.apiUrl}/` })).apiKey, pass);
  // From then on it is known, and a token says nothing against it.
  await scene.connect({ token: "of a service", endpoint: "quic://relay.example" });
  await scene.connect({ link });
  await refused(
    "invalid_request",
    "directory of its own",
    () => scene.connect({ link: scene.link(undefined, apiUrl) }),
  );
});
