/**
 * Everything that the SDK needs from a runtime. Each runtime has one constant of it, exported as
 * `platform` by `deno.ts`, `node.ts` and `browser.ts`; the specifier `#platform` stands for the one
 * that fits (import map here, package conditions in the npm package). The rest of the SDK touches
 * no socket, file, clock, timer, randomness or environment but through it.
 */
import type { Trust as KnownAgents } from "../../proto/mod.ts";
import type { KeyAgreement } from "../mls/crypto/key_agreement.ts";
import type { OpeningMlKem } from "../mls/crypto/ml_kem.ts";
import type { LongHash } from "../mls/crypto/long_hash.ts";
import type { NativeEd25519 } from "../mls/crypto/signatures.ts";
import type { DialPlaces } from "../transport/dial_places.ts";
import type { RecordStore, StoreOptions } from "../store/mod.ts";
import type { CertificateTrust, Connector, HttpClient } from "../transport/transport.ts";

export interface Platform {
  readonly runtime: "deno" | "node" | "browser";
  /**
   * Opens the encrypted store: in a folder, or, in a browser, under a name of this origin. Throws
   * `StoreError`.
   */
  openStore(dataDir: string, options?: StoreOptions): Promise<RecordStore>;
  /** Ways to a relay, the best first. */
  readonly connectors: readonly Connector[];
  /** Shared by all agents of the process. Not given: as many attempts as there are agents. */
  readonly dials?: DialPlaces;
  /**
   * HTTP for the API. Of the trust only `caCerts` count: hashes are those of the relay's
   * certificate.
   */
  openHttp(trust: CertificateTrust): HttpClient;
  /** Milliseconds since 1970 by the local clock, which may be wrong. */
  nowMs(): number;
  /** Milliseconds since any moment, which go on evenly when somebody sets the clock. */
  steadyMs(): number;
  /** Runs once after the time; returns a function to cancel it. */
  after(ms: number, run: () => void): () => void;
  /** Resolves in a later turn of the event loop. */
  rest(): Promise<void>;
  /** Fit for keys. */
  randomBytes(length: number): Uint8Array<ArrayBuffer>;
  /** Shows a mistake of the program to its programmer, on the console. */
  show(text: string): void;
  /** The runtime's own Ed25519; `createSignatures` checks it before use. */
  readonly ed25519: NativeEd25519 | undefined;
  /** The runtime's own X25519, if it is synchronous; checked in the same way. */
  readonly x25519: KeyAgreement | undefined;
  /** The runtime's own SHA-256, if it is synchronous; checked in the same way. */
  readonly sha256: LongHash | undefined;
  /** The runtime's own ML-KEM; checked in the same way. */
  readonly mlKem: OpeningMlKem | undefined;
  /**
   * Settings of the environment and the credentials file, where the runtime has them; the user's
   * options take precedence.
   */
  readSettings(options?: SettingsOptions): Promise<PlatformSettings>;
  /** A text file that the user named, as `tls.caFile`. Rejects in browsers. */
  readTextFile(path: string): Promise<string>;
  /**
   * The agents that this user knows, by `trust.json` of the user or by a file of that form; nobody
   * in browsers.
   */
  openTrust(path: string | undefined): KnownAgents;
  /** Where that file is; undefined where there is no place for it. */
  findTrust(): string | undefined;
  /**
   * Runs at the first signal that asks the program to end; returns a function to stop listening.
   * Never in browsers.
   */
  onSignal(run: () => void): () => void;
  /** Hosts of agents on this machine; undefined in browsers. */
  readonly hosts: HostPlatform | undefined;
}

/** How programs of one user on one machine find the process that holds an agent. */
export interface HostPlatform {
  /**
   * Where the host of this directory listens; the folder is made. Throws `StaticError` when others
   * could reach it.
   */
  place(dataDir: string): Promise<HostPlace>;
  /** Undefined when nobody listens. */
  connect(place: HostPlace, ends: HostEnds): Promise<HostWire | undefined>;
  /**
   * Gives a turn to the first of several programs that would start a host; returns how to let the
   * next one. Undefined: another is at it.
   */
  takeTurn(place: HostPlace): Promise<(() => Promise<void>) | undefined>;
  /**
   * Starts a host and gives it its options; `ends` hears what it says first. Returns how to let go
   * of it: it outlives this process.
   */
  start(place: HostPlace, options: StartOptions, ends: HostEnds): () => void;
}

export interface HostPlace {
  /** The agent's directory, by its real path. */
  readonly dataDir: string;
  readonly folder: string;
  readonly socket: string;
}

export interface StartOptions {
  /** The host's options. */
  readonly frame: Uint8Array;
  /** Files of the user that it may read; it may read no others. */
  readonly readable: readonly string[];
}

export interface HostEnds {
  readonly onData: (bytes: Uint8Array) => void;
  readonly onEnd: () => void;
}

export interface HostWire {
  write(bytes: Uint8Array): void;
  close(): void;
}

export interface SettingsOptions {
  readonly withoutFile?: boolean;
  /**
   * The address of the API that the program gives. The relay and the authorities that a file has
   * for another API are then left out.
   */
  readonly apiUrl?: string | undefined;
}

/**
 * `STATIC_API_KEY`, `STATIC_API_URL`, `STATIC_RELAY_URL`, `STATIC_CA_FILE`, each before the file
 * that the CLI wrote.
 */
export interface PlatformSettings {
  readonly apiKey?: string | undefined;
  readonly apiUrl?: string | undefined;
  readonly relayUrl?: string;
  /** Whether the relay is that of the file, for which the CLI has settled whom to trust. */
  readonly isRelaySaved?: boolean;
  readonly caFile?: string;
  /** The authority of the relay alone, which the CLI has pinned. */
  readonly relayCaFile?: string;
}
