/** A question to the relay that several rooms have. */
import { type ChannelId, generationOf, type ReplyBody } from "../../../proto/mod.ts";
import type { ChannelDeps } from "../deps.ts";

/**
 * Which commit ended an epoch, and the epoch of the log's end, as the relay says. Throws
 * `StaticError`.
 */
export function findCommit(
  { channelId }: { readonly channelId: ChannelId },
  epoch: number,
  { session }: Pick<ChannelDeps, "session">,
): Promise<ReplyBody<"FindCommit">> {
  return session.call("FindCommit", { channelId, epoch, generation: generationOf(epoch) });
}
