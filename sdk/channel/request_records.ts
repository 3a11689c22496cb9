/** What a channel keeps on disk of requests: those that were asked under a key, and how often those to us were begun. */
import { type ChannelId, type MessageId, parseBinaryId } from "../../proto/mod.ts";
import type { Attempts, RequestRecords } from "../content/ports.ts";
import { decodeFields, encodeFields } from "../store/mod.ts";
import { askedKind, attemptsKind, type ChannelStore } from "./records.ts";

export function createRequestRecords(
  channelId: ChannelId,
  store: Pick<ChannelStore, "list" | "batch">,
): RequestRecords {
  const [asked, attempts] = [askedKind(channelId), attemptsKind(channelId)];
  return {
    asked: async () => {
      const records = await store.list(asked);
      return new Map(
        records.map(({ id, value }) => [parseBinaryId<MessageId>(id), decodeFields(value, asked).number(0)]),
      );
    },
    putAsked: (id, deadlineMs) => ({ type: "put", kind: asked, id, value: encodeFields([deadlineMs]) }),
    deleteAsked: (id) => ({ type: "delete", kind: asked, id }),
    attempts: async () => {
      const records = await store.list(attempts);
      return new Map(records.map(({ id, value }): [string, Attempts] => {
        const fields = decodeFields(value, attempts);
        return [id, { count: fields.number(0), deadlineMs: fields.number(1) }];
      }));
    },
    putAttempts: (id, { count, deadlineMs }) => ({
      type: "put",
      kind: attempts,
      id,
      value: encodeFields([count, deadlineMs]),
    }),
    deleteAttempts: (id) => ({ type: "delete", kind: attempts, id }),
    write: (changes) => store.batch(changes),
  };
}
