/** A fixture that has come to life: the relay on its file, agents on their directories, all at the time when it was made. */
import { type Migrated, type Migration, migrations } from "../../relay/engine/mod.ts";
import { grantedToken, openTestRelay, type TestRelay } from "../../relay/testing/open_relay.ts";
import { ChannelManager, StaticClient } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { type Agent, connectAgent, type StoreMigration, storeMigrations } from "../../sdk/testing/agents.ts";
import { createCertificate, type TestCertificate } from "../support/mod.ts";
import { type Fixture, fixtureAccount, unpackFixture } from "./fixture.ts";

const hourMs = 3_600_000;

/** Formats that the program does not have. */
export interface MoreFormats {
  readonly relay: readonly Migration[];
  readonly store: readonly StoreMigration[];
}

const none: MoreFormats = { relay: [], store: [] };

export class OpenedFixture implements AsyncDisposable {
  readonly folder: string;
  readonly fixture: Fixture;
  readonly migrated: Migrated[] = [];
  /** The agent inside of each manager. */
  readonly insides = new Map<ChannelManager, Agent>();
  /** Waits of more than 30 s take a hundredth of their time. */
  hurried = false;
  readonly faults: unknown[] = [];
  readonly #certificate: TestCertificate;
  readonly #startedAtMs = Date.now();
  #relay: TestRelay | undefined;
  #more = none;
  #agents: (StaticClient | ChannelManager)[] = [];

  private constructor(folder: string, fixture: Fixture, certificate: TestCertificate) {
    this.folder = folder;
    this.fixture = fixture;
    this.#certificate = certificate;
  }

  static async unpack(path: URL): Promise<OpenedFixture> {
    const folder = await Deno.makeTempDir({ prefix: "static-formats-" });
    return new OpenedFixture(folder, await unpackFixture(path, folder), await createCertificate());
  }

  /** The relay of a program that has more formats. */
  async start(more: MoreFormats = none): Promise<void> {
    this.#more = more;
    this.#relay = await openTestRelay({
      path: `${this.folder}/relay.sqlite`,
      certificate: this.#certificate,
      nowMs: this.#nowMs,
      onEvent: (event) => void (event.event === "fault" && this.faults.push(event.error)),
      formats: {
        migrations: [...migrations, ...more.relay],
        onMigrated: (migrated) => this.migrated.push(migrated),
      },
    });
  }

  async manager(identity: string): Promise<ChannelManager> {
    const agent = await this.#connect(identity);
    const manager = await ChannelManager.over(agent);
    this.#agents.push(manager);
    this.insides.set(manager, agent);
    return manager;
  }

  async client(identity: string): Promise<StaticClient> {
    const client = StaticClient.over(await this.#connect(identity));
    this.#agents.push(client);
    return client;
  }

  /** Agents and relay; their files stay. */
  async stop(): Promise<void> {
    for (const agent of this.#agents) await agent.close();
    this.#agents = [];
    await this.#relay?.close();
    this.#relay = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await Deno.remove(this.folder, { recursive: true });
    if (this.faults.length > 0) throw new AggregateError(this.faults, "The relay reported faults");
  }

  readonly #nowMs = (): number => this.fixture.madeAtMs + Date.now() - this.#startedAtMs;

  #connect(identity: string): ReturnType<typeof connectAgent> {
    const options = {
      identity,
      dataDir: `${this.folder}/${identity}`,
      endpoint: `quic://localhost:${this.#relay?.quicPort}`,
      token: () => Promise.resolve(grantedToken(fixtureAccount, this.#nowMs() + hourMs)),
      tls: { caCerts: [this.#certificate.cert] },
      cover: { mode: "off" },
    } as const;
    const store = [...storeMigrations, ...this.#more.store];
    const openStore: typeof platform.openStore = (dataDir, given) =>
      platform.openStore(dataDir, { ...given, migrations: store });
    const after: typeof platform.after = (ms, run) => platform.after(this.hurried && ms > 30_000 ? ms / 100 : ms, run);
    return connectAgent(options, { ...platform, nowMs: this.#nowMs, openStore, after });
  }
}
