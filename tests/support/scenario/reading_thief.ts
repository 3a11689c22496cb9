/**
 * A thief that has copied an agent's directory and recorded what the relay delivered. From every
 * version of a record that the copy opens it makes groups, one of each epoch, secret tree and
 * chain, and tries each message with all of them.
 */
import { type ChannelId, readPrivateMessageHeader } from "../../../proto/mod.ts";
import {
  atOnce,
  createSignatures,
  DurableGroup,
  openIdentity,
  type RecordStore,
} from "../../../sdk/testing/agents.ts";
import { platform } from "../../../sdk/platform/deno.ts";
import { openAll, type OpenedVersion, stealStore } from "../stolen_store.ts";

const nothing = new Uint8Array(0);

interface Wanted {
  readonly channelId: ChannelId;
  readonly identity: string;
  /** As they went over the wire. */
  readonly messages: readonly Uint8Array[];
}

/** Places in `messages` of those that a copy of the agent's directory opens. */
export async function openWith(
  directory: string,
  { channelId, identity, messages }: Wanted,
): Promise<ReadonlySet<number>> {
  const { opened } = openAll(await stealStore(directory));
  const versions = opened.toSorted((a, b) => a.generation - b.generation);
  const of = (pattern: RegExp): OpenedVersion[] => versions.filter(({ id }) => pattern.test(id));
  const always = ["entry", "owners", "parent"].flatMap((id) => of(new RegExp(`^${id}$`)).slice(-1));
  const rosters = of(/^roster\//);
  const deps = await memberDeps(opened, identity);
  const currents = new Map<number, OpenedVersion>();
  for (const current of of(/^epoch$/)) {
    const epoch = await DurableGroup.storedEpoch(channelId, {
      get: () => Promise.resolve(current.value),
    });
    if (epoch !== undefined) currents.set(epoch, current);
  }
  const epochs = messages.map((message) => readPrivateMessageHeader(message).epoch);
  const found = new Set<number>();
  for (const frontier of of(/^frontier\//)) {
    const epoch = Number(frontier.id.split("/")[1]);
    const past = of(new RegExp(`^past/${epoch}$`)).slice(-1);
    const [newest = epoch] = [...currents.keys()].slice(-1);
    const around = currents.has(epoch) ? epoch : newest;
    const current = currents.get(around);
    if (current === undefined) continue;
    const tree = around === epoch ? [] : of(new RegExp(`^frontier/${around}$`)).slice(-1);
    const group = [current, ...always, ...rosters, ...tree, ...past, frontier];
    // Without a chain: of a sender that has not spoken yet when this tree was written.
    for (const chain of [undefined, ...of(new RegExp(`^ratchet/${epoch}/`))]) {
      const left = messages.keys().filter((at) => epochs[at] === epoch && !found.has(at)).toArray();
      if (left.length === 0) break;
      const member = await load(chain === undefined ? group : [...group, chain], channelId, deps);
      for (const at of left) {
        const outcome = await member?.receive(messages[at] ?? nothing, () => undefined).then(
          (got) => got.outcome.kind,
          () => "refused",
        );
        if (outcome === "message") found.add(at);
      }
    }
  }
  return found;
}

type Deps = Parameters<typeof DurableGroup.load>[2];

async function memberDeps(opened: readonly OpenedVersion[], identity: string): Promise<Deps> {
  const self = opened.find(({ id }) => id === "self")?.value;
  const store = { get: () => Promise.resolve(self), put: () => Promise.resolve() };
  return {
    identity: await openIdentity(store, new TextEncoder().encode(identity), platform),
    signatures: await createSignatures(platform),
    randomBytes: platform.randomBytes,
    policy: () => undefined,
    findPsk: () => undefined,
    clocksMs: () => [platform.nowMs()],
    padding: () => 0,
    carryOut: atOnce,
  };
}

/** Undefined for records that do not belong together. */
async function load(
  records: readonly OpenedVersion[],
  channelId: ChannelId,
  deps: Deps,
): Promise<DurableGroup | undefined> {
  const store = {
    list: () => Promise.resolve(records),
    get: () => Promise.resolve(undefined),
    batch: () => Promise.resolve(),
  } as unknown as RecordStore; // cast: the part that a group needs
  try {
    return (await DurableGroup.load(channelId, store, deps))?.durable;
  } catch {
    return undefined;
  }
}
