/**
 * A relay on its file and agents on their directories, with the formats of this version or of an
 * invented one.
 */
import { type MigratedFile, type Migration, migrations } from "../../relay/engine/mod.ts";
import { grantedToken, openTestRelay, type TestRelay } from "../../relay/testing/open_relay.ts";
import { ChannelManager } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { connectAgent, type StoreMigration, storeMigrations } from "../../sdk/testing/agents.ts";
import { createCertificate, type TestCertificate } from "../support/mod.ts";

const account = "00000000-0000-4000-8000-000000000001";
const hourMs = 3_600_000;

/** Formats that the program does not have. */
export interface MoreFormats {
  readonly relay: readonly Migration[];
  readonly store: readonly StoreMigration[];
}

export const noMore: MoreFormats = { relay: [], store: [] };

export class WrittenData implements AsyncDisposable {
  readonly folder: string;
  readonly migrated: MigratedFile[] = [];
  readonly #certificate: TestCertificate;
  #relay: TestRelay | undefined;
  #more = noMore;
  #managers: ChannelManager[] = [];

  private constructor(folder: string, certificate: TestCertificate) {
    this.folder = folder;
    this.#certificate = certificate;
  }

  static async create(): Promise<WrittenData> {
    return new WrittenData(
      await Deno.makeTempDir({ prefix: "static-formats-" }),
      await createCertificate(),
    );
  }

  /** The relay of a program that has more formats. */
  async start(more: MoreFormats = noMore): Promise<void> {
    this.#more = more;
    this.#relay = await openTestRelay({
      path: `${this.folder}/relay.sqlite`,
      certificate: this.#certificate,
      formats: {
        migrations: [...migrations, ...more.relay],
        onMigrated: (migrated) => this.migrated.push(migrated),
      },
    });
  }

  async manager(identity: string): Promise<ChannelManager> {
    const options = {
      identity,
      dataDir: `${this.folder}/${identity}`,
      endpoint: `quic://localhost:${this.#relay?.quicPort}`,
      token: () => Promise.resolve(grantedToken(account, Date.now() + hourMs)),
      tls: { caCerts: [this.#certificate.cert] },
      cover: { mode: "off" },
    } as const;
    const list = [...storeMigrations, ...this.#more.store];
    const openStore: typeof platform.openStore = (dataDir, given) =>
      platform.openStore(dataDir, { ...given, migrations: list });
    const manager = await ChannelManager.over(
      await connectAgent(options, { ...platform, openStore }),
    );
    this.#managers.push(manager);
    return manager;
  }

  /** Agents and relay; their files stay. */
  async stop(): Promise<void> {
    for (const manager of this.#managers) await manager.close();
    this.#managers = [];
    await this.#relay?.close();
    this.#relay = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await Deno.remove(this.folder, { recursive: true });
  }
}
