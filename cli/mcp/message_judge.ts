/** Applies a person's decision about the sender before a model sees a message. */
import { type Envelope, RemoteError } from "../../sdk/mod.ts";
import type { Context } from "../command.ts";
import type { MessageJudge } from "./feed.ts";
import type { HeldMessages } from "./held_messages.ts";
import { readPolicy, ruleOf, type SenderRule } from "./policy.ts";

export function createJudge(
  context: Context,
  fallback: SenderRule,
  held: HeldMessages,
): MessageJudge {
  return async (channel, message, isRequest) => {
    const rule = await ruleFor(context, message, fallback);
    if (rule === "accept") return "accept";
    if (isRequest) {
      throw new RemoteError(requestTexts[rule], {
        remoteCode: rule === "hold" ? "held" : "refused",
      });
    }
    // On disk before it is acknowledged, and its sender may want to know.
    if (rule === "hold") await held.hold(channel.name, message);
    await channel.giveReceipt(message, rule === "hold" ? "held" : "refused");
    return "done";
  };
}

/**
 * Whether what this sender says reaches the model; a policy that cannot be read lets nobody
 * through.
 */
export async function isAccepted(
  context: Context,
  fallback: SenderRule,
  message: Envelope,
): Promise<boolean> {
  return await ruleFor(context, message, fallback).catch(() => "hold") === "accept";
}

const requestTexts = {
  hold: "A person must allow this sender first",
  refuse: "This agent accepts no requests from this sender",
} as const;

async function ruleFor(
  context: Context,
  { sender }: Envelope,
  fallback: SenderRule,
): Promise<SenderRule> {
  return ruleOf(await readPolicy(context), sender) ?? fallback;
}
