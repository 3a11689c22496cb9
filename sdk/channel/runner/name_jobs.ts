/**
 * The jobs of the names: making and opening memberships, reading them, and bringing what was there
 * to rest, or to its end.
 */
import type { AgentId, ChannelId, ChannelName } from "../../../proto/mod.ts";
import { createError, isCode, StaticError } from "../../base/errors.ts";
import { MlsFault } from "../../mls/codec.ts";
import type { SealingChoice } from "../../mls/sealing_rules.ts";
import type { ChannelDeps } from "../deps.ts";
import { hiddenError } from "../departure/end_errors.ts";
import type { EnteredChannel } from "../entering.ts";
import type { NameJob, NameJobResult } from "../names/names_state.ts";
import { checkWelcome } from "./welcomes.ts";
import type { ChannelRunner } from "./channel_runner.ts";
import {
  type ExpectedChannel,
  openChannel,
  prepareCreated,
  type PreparedChannel,
  prepareJoined,
} from "./entrances.ts";
import { eraseKeys, forgetChannel, noteErasing } from "./erasing.ts";

/** A Welcome, and the channel for which the relay delivered it, if it did. */
export interface OfferedWelcome {
  readonly welcome: Uint8Array;
  readonly channelId?: ChannelId;
}

/** The Welcomes of a call. */
export interface CallWelcomes {
  readonly expected: ExpectedChannel;
  /** Returns the Welcomes that are here now. Throws `StaticError` when there is none. */
  readonly find: () => readonly OfferedWelcome[];
  /** The Welcomes as they were found: the state counts them. */
  offered: readonly OfferedWelcome[];
}

export interface NameJobParts {
  readonly deps: ChannelDeps;
  /** The last machine of each channel, also when it is over. */
  readonly channels: Map<ChannelId, ChannelRunner>;
  readonly entryOf: (operation: number) => CallWelcomes | undefined;
  /** Returns the choice of sealing for a channel that the call makes. */
  readonly sealingOf: (operation: number) => SealingChoice;
  /** Returns the member that a call to leave names. */
  readonly successorOf: (operation: number) => AgentId | undefined;
  /** KeyPackages by which names are about to be entered. */
  readonly heldKeys: () => ReadonlySet<string>;
}

/** The end of a job, and the bytes that it leaves. */
export interface NameJobEnd {
  readonly result: NameJobResult;
  readonly prepared?: PreparedChannel;
  readonly entered?: EnteredChannel | undefined;
}

export async function doJob(job: NameJob, parts: NameJobParts): Promise<NameJobEnd> {
  const { channels, deps } = parts;
  switch (job.of) {
    case "make": {
      const sealing = parts.sealingOf(job.operation);
      const prepared = prepareCreated(job.channelId, { name: job.name, sealing }, deps);
      return { result: { of: "make" }, prepared };
    }
    case "open_welcome":
      return await openWelcome(job, parts);
    case "load": {
      const before = channels.get(job.channelId);
      // One that is over by the relay's word, or by a fault, begins anew: the relay may say
      // something else now.
      await before?.close();
      await before?.idle();
      const entered = await openChannel(job.channelId, deps);
      return { result: { of: "load", hasKeys: entered !== undefined }, entered };
    }
    case "recall":
      return { result: { of: "recall", way: await wayOutOf(job, parts) } };
    case "retire": {
      const former = [...channels.values()].find(({ number }) => number === job.membership);
      await former?.close();
      await former?.idle();
      former?.rooms.membership.durable.retire();
      return { result: { of: "retire" } };
    }
    case "erase":
      await erase(job, parts);
      return { result: { of: "erase" } };
  }
}

/** Any member may send a Welcome, so one that leads nowhere does not keep us from the next. */
async function openWelcome(
  { operation, from }: Extract<NameJob, { readonly of: "open_welcome" }>,
  { deps, entryOf }: NameJobParts,
): Promise<NameJobEnd> {
  const entry = entryOf(operation);
  if (entry === undefined) throw new TypeError("Nobody waits for this Welcome");
  if (from === 0) entry.offered = entry.find();
  let failed: unknown;
  for (const [at, { welcome, channelId }] of entry.offered.entries()) {
    if (at < from) continue;
    try {
      const prepared = await prepareJoined(checkWelcome(welcome), entry.expected, deps);
      if (channelId !== undefined && channelId !== prepared.channelId) throw ledElsewhere();
      return {
        result: { of: "open_welcome", channelId: prepared.channelId, key: prepared.key, at },
        prepared,
      };
    } catch (error) {
      if (!(error instanceof MlsFault) && !(error instanceof StaticError)) throw error;
      failed ??= error;
    }
  }
  throw failed ?? new MlsFault("There is no other Welcome");
}

function ledElsewhere(): StaticError {
  return createError(
    "mls_error",
    "Cannot join: the Welcome leads into another channel than the one that sent it",
  );
}

/** One that the relay does not know any more has nobody that would miss us. */
async function wayOutOf(
  { channelId, operation }: Extract<NameJob, { readonly of: "recall" }>,
  { channels, successorOf, deps: { session } }: NameJobParts,
): Promise<"close" | "leave" | "kept_out"> {
  const channel = channels.get(channelId);
  if (channel === undefined) throw new TypeError("A membership that nobody has opened is left");
  await channel.idle();
  const { name } = channel;
  const way = channel.wayOut(successorOf(operation));
  const { isUnsettled } = channel;
  if (way !== "kept_out" && !isUnsettled) return way;
  try {
    await session.call("ListMembers", { channelId });
    if (isUnsettled) throw unsettled(name);
    return way;
  } catch (error) {
    if (!isCode(error, "not_found")) throw error;
    if (session.covers?.({ name, channelId }) === false) throw hiddenError(name);
    return "leave";
  }
}

/**
 * The statement would be about a leaf that it may not have any more: then it stays a member,
 * without keys.
 */
function unsettled(name: ChannelName): StaticError {
  const text =
    `Cannot leave: channel "${name}" has ended here before it was known what became of this agent's last ` +
    `change; open it again with channel("${name}"), and leave then`;
  return createError("not_allowed", text);
}

async function erase(
  { step, channelId }: Extract<NameJob, { readonly of: "erase" }>,
  { deps: { store }, channels, heldKeys }: NameJobParts,
): Promise<void> {
  const channel = channels.get(channelId);
  switch (step) {
    case "end":
      return await channel?.halt();
    case "note":
      await channel?.idle();
      // Before the note, because the next start does not know these keys.
      await channel?.forgetKeys(heldKeys());
      return await noteErasing(store, channelId);
    case "keys":
      return await eraseKeys(store, channelId);
    case "rest":
      await forgetChannel(store, channelId);
      channels.delete(channelId);
  }
}
