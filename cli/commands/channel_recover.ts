/** `channel recover`: whom it leaves out is shown before it is done. */
import type { Channel, LeftOutMember, RecoveryChoice, RecoveryPreview } from "../../sdk/mod.ts";
import { agentFlag, withAgent } from "../agent.ts";
import type { Command, Context } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import { withCommands } from "../output.ts";
import { isoTime, utc } from "../texts/amounts.ts";
import { memberFields, memberName } from "../texts/channel_texts.ts";
import { waitUntil } from "../wait_until.ts";
import { agentWords, catchUpMs, findChannel, nameArgument } from "./channel.ts";

/**
 * A little more than the minute after which an owner may recover a channel whatever the others say.
 */
const [turnMs, patienceTurns] = [5_000, 13];

export const recoverChannel: Command = {
  path: "channel recover",
  summary: "restart a channel that a member's commit has stopped",
  details: [
    "Only owners can do this. The channel keeps its name and members, except the sender of the commit that nobody can",
    "follow, and those that it let in within a day. Members follow automatically. Works at once if all members are stopped,",
    "otherwise after a minute. When these are many, or a second agent that came by one door stops the channel within a day,",
    "the command shows them and asks who shall go: --without, or --keep.",
  ],
  arguments: [nameArgument],
  flags: [
    {
      name: "without",
      value: "ID,…",
      summary: "leave out exactly these beside the sender of the commit; none: only that one",
    },
    { name: "keep", value: "ID,…", summary: "keep these of the members that would be left out" },
    { name: "dry-run", summary: "show who would be left out, and do nothing" },
    agentFlag,
  ],
  examples: [
    { command: "channel recover acme/ops/deploy", what: "" },
    { command: "channel recover acme/ops/deploy --dry-run", what: "show who would be left out" },
    {
      command: "channel recover acme/ops/deploy --without none",
      what: "leave out the sender of the commit alone",
    },
  ],
  run: (context) =>
    withAgent(context, async (client) => {
      const { platform, output, given } = context;
      const choice = choiceOf(given.value("without"), given.value("keep"));
      const channel = await findChannel(context, client);
      const isKnown = (): boolean => ["ok", "stopped", "ended"].includes(channel.health().state);
      await output.progress("catching up", waitUntil(platform, catchUpMs, [channel], isKnown));
      if (channel.health().state === "ok") {
        throw badInput(`${channel.name} works: there is nothing to recover`, "");
      }
      if (given.has("dry-run")) {
        return await show(context, channel, await channel.previewRecovery(choice));
      }
      const isOffered = (): boolean => {
        const { state, recoverable } = channel.health();
        return state !== "stopped" || recoverable === true;
      };
      const isOwner = channel.members().some(({ self, owner }) => self && owner);
      for (let turn = 0; isOwner && !isOffered() && turn < patienceTurns; turn++) {
        await output.progress(
          "waiting for the others",
          waitUntil(platform, turnMs, [channel], isOffered),
        );
      }
      const isStopped = channel.health().state !== "ok";
      const preview = isStopped ? await channel.previewRecovery(choice) : undefined;
      if (preview !== undefined) {
        await recover(context, channel, choice, preview);
      }
      const members = channel.members();
      const present = members.filter(({ absent }) => !absent).length;
      const { out, still } = parted(preview?.leftOut ?? [], members);
      const fields = {
        channel: channel.name,
        recovered: true,
        ...(preview !== undefined && { left_out: out.map(fieldsOf) }),
        members: members.map(memberFields),
      };
      await output.result(fields, [
        `${
          output.paint("green", "✓")
        } ${channel.name} is recovered, with ${present} members so far`,
      ]);
      if (still.length > 0) await tell(context, stillText(context, channel, still));
    }),
};

async function recover(
  context: Context,
  channel: Channel,
  choice: RecoveryChoice,
  preview: RecoveryPreview,
): Promise<void> {
  const { output } = context;
  await output.note("Left out:", ...linesOf(channel, preview));
  try {
    await output.progress("recovering", channel.recover(choice));
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "choice_needed") throw error;
    throw new Failure("choice_needed", error.message, {
      advice: waysOf(context, channel, preview),
      cause: error,
    });
  }
}

async function show(context: Context, channel: Channel, preview: RecoveryPreview): Promise<void> {
  const { blamed, members, leftOut, choiceNeeded } = preview;
  const fields = {
    channel: channel.name,
    blamed,
    member_count: members,
    left_out: leftOut.map(fieldsOf),
    choice_needed: choiceNeeded,
  };
  await context.output.result(fields, linesOf(channel, preview));
  if (choiceNeeded) await tell(context, `A choice is needed. ${waysOf(context, channel, preview)}`);
}

/** With the commands as this user calls them. */
async function tell({ platform, output }: Context, text: string): Promise<void> {
  await output.note("", withCommands(text, platform.program));
}

function waysOf(context: Context, { name }: Channel, { blamed, leftOut }: RecoveryPreview): string {
  const others = leftOut.map(({ agentId }) => agentId).filter((agentId) => agentId !== blamed);
  const again = `{} channel recover ${name}${agentWords(context)}`;
  return `Leave out only the sender of the commit: ${again} --without none; or all of these: ${again} --without ` +
    others.join(",");
}

/**
 * The members that would go, by whether they are gone: another owner may have begun the channel
 * anew with another list.
 */
export function parted(
  leftOut: readonly LeftOutMember[],
  members: readonly { readonly agentId: string }[],
): { readonly out: readonly LeftOutMember[]; readonly still: readonly LeftOutMember[] } {
  const present = new Set(members.map(({ agentId }) => agentId));
  const isStill = ({ agentId }: LeftOutMember): boolean => present.has(agentId);
  return { out: leftOut.filter((each) => !isStill(each)), still: leftOut.filter(isStill) };
}

function stillText(context: Context, { name }: Channel, still: readonly LeftOutMember[]): string {
  const ids = still.map(({ agentId }) => agentId).join(", ");
  return `The channel goes on by another way than this call: still members: ${ids}. Remove one with: ` +
    `{} channel remove ${name} ID${agentWords(context)}`;
}

/**
 * Returns the choice as the flags give it. Nothing is left out by an empty text: a variable that is
 * not set must not keep an attacker in.
 */
export function choiceOf(without: string | undefined, keep: string | undefined): RecoveryChoice {
  if (without !== undefined && keep !== undefined) {
    throw badInput("Give --without or --keep, not both");
  }
  if (without !== undefined) return { without: without === none ? [] : idsOf("without", without) };
  return keep === undefined ? {} : { keep: idsOf("keep", keep) };
}

const none = "none";

function idsOf(flag: "without" | "keep", text: string): string[] {
  const ids = text.split(",").map((id) => id.trim());
  if (ids.includes("")) {
    const advice = flag === "without"
      ? `To leave out only the sender of the commit: --without ${none}`
      : undefined;
    throw badInput(
      `--${flag} names nobody, or has a comma too many: give agent ids, with commas between them`,
      advice,
    );
  }
  if (flag === "without" && ids.includes(none)) {
    throw badInput(`--without ${none} stands alone: give it, or agent ids`);
  }
  return ids;
}

function fieldsOf(
  { agentId, identity, because, letInBy, seenMs }: LeftOutMember,
): Readonly<Record<string, unknown>> {
  return {
    agent_id: agentId,
    identity,
    because,
    let_in_by: letInBy,
    ...(seenMs !== undefined && { seen_at: isoTime(seenMs) }),
  };
}

const reasons: Readonly<Record<LeftOutMember["because"], string>> = {
  blamed: "sent the commit",
  let_in: "came in through it",
  same_door: "came by the same door as another that stopped the channel",
  named: "named by --without, or by an earlier recover",
};

function linesOf(channel: Channel, { leftOut }: RecoveryPreview): string[] {
  const members = channel.members();
  return leftOut.map(({ agentId, because, letInBy, seenMs }) => {
    const member = members.find((each) => each.agentId === agentId);
    const by = letInBy === undefined || because === "blamed" ? "" : `, let in by ${letInBy}`;
    // The time is that of the member's coming, not of the commit that it sent.
    const when = seenMs === undefined ? "" : `, here since ${utc(seenMs)}`;
    return `${member === undefined ? agentId : memberName(member)}: ${
      reasons[because]
    }${by}${when}`;
  });
}
