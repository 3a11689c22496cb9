/**
 * `channel health`: what is wrong with a channel, as its client explains it, also when it cannot be
 * used.
 */
import { shownSentence } from "../../proto/mod.ts";
import type { Channel, ChannelHealth, PostQuantum } from "../../sdk/mod.ts";
import { agentFlag, withAgent } from "../agent.ts";
import type { Command } from "../command.ts";
import { isoTime, span } from "../texts/amounts.ts";
import { memberName } from "../texts/channel_texts.ts";
import { postQuantumText } from "../texts/post_quantum_text.ts";
import { waitUntil } from "../wait_until.ts";
import { findChannel, nameArgument } from "./channel.ts";

const catchUpMs = 15_000;

export const showHealth: Command = {
  path: "channel health",
  summary: "show what is wrong with a channel and what to do about it",
  details: [
    "Shows the state of the channel, members that confirm a different group than this agent, members that are connected",
    "but confirm nothing, and other problems since this program opened the channel.",
  ],
  arguments: [nameArgument],
  flags: [agentFlag],
  examples: [{ command: "channel health acme/ops/deploy", what: "" }],
  run: (context) =>
    withAgent(context, async (client) => {
      const { output, platform } = context;
      const channel = await findChannel(context, client);
      const isKnown = (): boolean => !["offline", "catching_up"].includes(channel.health().state);
      await output.progress("asking the relay", waitUntil(platform, catchUpMs, [channel], isKnown));
      const health = channel.health();
      await output.result(
        healthFields(channel, health),
        healthLines(channel, health, platform.nowMs()),
      );
    }),
};

function healthFields({ name }: Channel, health: ChannelHealth): Readonly<Record<string, unknown>> {
  const { state, problem, action, epoch, unread, unsent, forked, silent, keys, issues } = health;
  return {
    channel: name,
    state,
    problem,
    action,
    epoch,
    post_quantum: postQuantumFields(health.postQuantum),
    unread,
    unsent,
    forked,
    silent: silent.map(({ agentId, confirmedEpoch, forMs }) => ({
      agent_id: agentId,
      confirmed_epoch: confirmedEpoch ?? null,
      seconds: Math.round(forMs / 1000),
    })),
    keys: keys.map(({ agentId, changedAtMs, overdue }) => ({
      agent_id: agentId,
      changed_at: changedAtMs === undefined ? null : isoTime(changedAtMs),
      overdue,
    })),
    issues: issues.map(({ kind, text, count, lastAtMs }) => ({
      kind,
      text,
      count,
      last_at: isoTime(lastAtMs),
    })),
  };
}

function postQuantumFields(postQuantum: PostQuantum): Readonly<Record<string, unknown>> {
  if (postQuantum.state !== "partly") return { ...postQuantum };
  const { state, since, until, learnedMs, because = null, by = null } = postQuantum;
  return { state, since, until, learned_at: isoTime(learnedMs), because, by };
}

function healthLines(channel: Channel, health: ChannelHealth, nowMs: number): string[] {
  const names = new Map<string, string>(
    channel.members().map((member) => [member.agentId, memberName(member)]),
  );
  const nameOf = (agentId: string): string => names.get(agentId) ?? `${agentId} (no member)`;
  const { state, problem, action, epoch, postQuantum, forked, silent, keys, issues } = health;
  return [
    `${channel.name} is ${state.replace("_", " ")}, at epoch ${epoch}`,
    ...(problem === undefined ? [] : [shownSentence(`${problem}. ${action ?? ""}`)]),
    postQuantumText(postQuantum, nameOf),
    ...forked.map(({ epoch, signers: [a, b] }) =>
      `${nameOf(a)} and ${nameOf(b)} have been in different groups since epoch ${epoch}`
    ),
    ...silent.map(({ agentId, forMs }) =>
      `${nameOf(agentId)} is connected but has confirmed nothing for ${span(forMs)}`
    ),
    ...keys.filter(({ overdue }) => overdue).map(({ agentId, changedAtMs = nowMs }) =>
      `${nameOf(agentId)} has not changed its keys for ${
        span(nowMs - changedAtMs)
      }: a copy of them can still read messages`
    ),
    ...issues.map(({ text, count }) =>
      shownSentence(count === 1 ? text : `${text} (${count} times)`)
    ),
  ];
}
