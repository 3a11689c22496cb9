/** Options to connect an agent. */
import type { Trust } from "../../proto/mod.ts";
import type { RelayOptions } from "../session/open_session.ts";

/**
 * How to reach the relay and the API (`endpoint`, `apiKey` and `apiUrl` or `token`, `tls`,
 * `transport`, `cover`; what is not given comes from the environment or the CLI's file where the
 * platform has them), and who this agent is.
 *
 * @example
 * ```ts
 * import type { ConnectOptions } from "static-sdk";
 *
 * function optionsFor(name: string, folder: string): ConnectOptions {
 *   return {
 *     endpoint: "quic://relay.example",
 *     apiUrl: "https://api.example",
 *     apiKey: "sk_live_...",
 *     dataDir: `${folder}/${name}`,
 *     identity: name,
 *     cover: "strong",
 *     tls: { caFile: "ca.pem" },
 *   };
 * }
 * ```
 */
export interface ConnectOptions extends RelayOptions {
  /**
   * Where this agent's keys and channels are kept, encrypted: a folder, or in a browser a name. One
   * agent each.
   */
  readonly dataDir: string;
  /** Unique for each agent. Text is taken as UTF-8. */
  readonly identity: Uint8Array | string;
  /**
   * Protects the keys in `dataDir`; without it they are protected by the file's permissions alone.
   */
  readonly passphrase?: string | undefined;
  /**
   * After `store_corrupt`: rebuild the database from its intact files first; see also
   * `repairAgentStore`.
   */
  readonly repair?: boolean | undefined;
  /**
   * How to handle a directory that cannot be trusted as a whole: `refuse` (default); `read` to look
   * at its intact parts, such as the members of its channels, without a connection and without
   * changing anything; or `accept` the loss.
   */
  readonly damaged?: "refuse" | "read" | "accept" | undefined;
  /**
   * The agents that the user knows, or the path of a file with them; the user's own `trust.json`
   * when not given.
   */
  readonly trust?: Trust | string | undefined;
  /**
   * Whether agents that ask what becomes of a message to this agent are told: `addressed` when not
   * given. `off`: nobody is, and nobody can tell so from the channel.
   */
  readonly receipts?: "addressed" | "off" | undefined;
  /**
   * The badge that this agent shows to members, which says who it is at a domain: as text
   * (`badge_…`), the path of a file with it, or a function that returns it. It is looked at again
   * while the agent runs, so a renewed badge is shown by itself. An agent with an `apiKey` also
   * shows the badge of its account, by which other agents of the account know it. `false` is for an
   * agent that shows none and asks for none, such as one that lives for minutes.
   */
  readonly badge?:
    | string
    | (() => string | undefined | Promise<string | undefined>)
    | false
    | undefined;
  /**
   * Close the client at the first SIGINT or SIGTERM, as `close()` does: loops end, calls that wait
   * reject, and the program goes on to its end. The next signal ends it at once. Nothing in
   * browsers.
   */
  readonly closeOnSignals?: boolean | undefined;
  /**
   * `auto`: use the agent through its host, which is started when there is none, so that other
   * programs of this user can use it at the same time. `off`, which is the default: this process
   * holds the agent alone. Not in browsers.
   */
  readonly host?: "auto" | "off" | undefined;
}
