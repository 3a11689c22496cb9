/**
 * An agent's data directory on its own, without a connection: check it, save what is intact, change
 * the passphrase. The errors of a damaged store refer to these functions.
 */
import { platform } from "#platform";
import { factsKind } from "../channel/channel_kinds.ts";
import { translating } from "../channel/faults.ts";
import { listChannels } from "../channel/runner/entrances.ts";
import {
  decodeFields,
  type RecordStore,
  StoreFault,
  storeMigrations,
  type StoreOptions,
} from "../store/mod.ts";
import { identityText } from "../base/identity_text.ts";

/** Which agent's data directory, and how its keys are protected. */
export interface AgentStoreOptions {
  /** Where the agent's keys and channels are kept: a folder, or in a browser a name. */
  readonly dataDir: string;
  /** Protects the keys; not given when there is none. */
  readonly passphrase?: string | undefined;
}

/** The state of a data directory. */
export interface StoreReport {
  /** Whether nothing is wrong. */
  readonly intact: boolean;
  /** How many records there are. */
  readonly records: number;
  /** Records that cannot be read, by kind and in words. */
  readonly damaged: readonly { readonly kind: string; readonly text: string }[];
  /** Faults of the directory as a whole, in words. */
  readonly faults: readonly string[];
  /** The agent's identity, if it can be read. */
  readonly identity: string | undefined;
  /** Names of its channels, as far as they can be read. */
  readonly channels: readonly string[];
}

/** Kinds whose damage is named. */
const kinds = ["identity", "channels", "creating", "joining", "passes"];

/**
 * Reads everything in an agent's data directory and writes nothing: what is intact, and what is
 * left of a damaged one. Rejects with `store_locked` while another process uses it, and with
 * `passphrase_wrong`.
 */
export async function verifyAgentStore(options: AgentStoreOptions): Promise<StoreReport> {
  return await within("Cannot verify the data directory", options, { damaged: "read" }, report);
}

/**
 * Saves what can be saved of a damaged data directory: files of the database that are damaged are
 * set aside, and the loss of what was in them is accepted. The agent then goes on; channels whose
 * state is lost must be joined again.
 */
export async function repairAgentStore(options: AgentStoreOptions): Promise<StoreReport> {
  return await within("Cannot repair the data directory", options, {
    damaged: "accept",
    repair: true,
  }, report);
}

/**
 * Changes the passphrase that protects the keys; without `to`, the file's permissions alone protect
 * them from then on.
 */
export async function changeAgentPassphrase(
  { to, ...options }: AgentStoreOptions & { readonly to?: string },
): Promise<void> {
  const from = options.passphrase;
  await within(
    "Cannot change the passphrase",
    options,
    {},
    (store) => store.changePassphrase({ from, to }),
  );
}

async function within<T>(
  action: string,
  { dataDir, passphrase }: AgentStoreOptions,
  options: StoreOptions,
  act: (store: RecordStore) => Promise<T>,
): Promise<T> {
  return await translating(action, async () => {
    const given = { ...options, migrations: storeMigrations, passphrase };
    const store = await platform.openStore(dataDir, given);
    try {
      return await act(store);
    } finally {
      await store.close();
    }
  });
}

async function report(store: RecordStore): Promise<StoreReport> {
  const faults = store.faults.map(({ message }) => message);
  const identity = await readable(async () => {
    const stored = await store.get("identity", "self");
    return stored && identityText(decodeFields(stored, "identity").bytes(0));
  });
  const channels = await readable(() => listChannels(store)) ?? [];
  const ofChannels = channels.map(({ channelId }) => factsKind(channelId));
  const { records, damaged } = await store.verify([...kinds, ...ofChannels]);
  return {
    intact: damaged.length === 0 && faults.length === 0,
    records,
    damaged: damaged.map(({ kind, message }) => ({ kind: kind ?? "unknown", text: message })),
    faults,
    identity,
    channels: channels.map(({ name }) => name),
  };
}

async function readable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StoreFault) return undefined;
    throw error;
  }
}
