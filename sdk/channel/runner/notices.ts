/** Words of the relay about a channel, when their turn has come: entries are read, the rest goes to those that it is for. */
import type { NoticeEnvelope } from "../../../proto/mod.ts";
import type { Permit } from "../connection/permit.ts";
import type { Taken } from "../connection/link_state.ts";
import type { LogEntry } from "../reading/reading_state.ts";
import type { Door } from "./door.ts";
import type { LinkRunnerParts } from "./link_runner.ts";
import { takenOf } from "./notice_kinds.ts";
import type { Rooms } from "./rooms.ts";

export function createNoticeReader({ reading, confirmations, recovery }: Rooms, found: Door): LinkRunnerParts["read"] {
  const read = (entry: LogEntry, permit: Permit | undefined): Promise<Taken | undefined> | Taken | undefined => {
    const { body } = entry;
    const took = "ciphertext" in body || "commit" in body ? takenOf(body) : undefined;
    const done = reading.read(entry, permit);
    return done === undefined ? took : done.then(() => took);
  };
  return (notice: NoticeEnvelope, permit) => {
    switch (notice.operation) {
      case "DeliverMessage":
      case "DeliverCommit":
      case "DeliverLeave":
      case "DeliverLapse":
      case "DeliverGap":
      case "DeliverFounding":
        return read(notice, permit);
      case "DeliverConfirmations":
        confirmations.told(notice.body);
        return undefined;
      case "DeliverUnconfirmed":
        confirmations.unconfirmed(notice.body);
        return undefined;
      case "DeliverLeaf":
        recovery.leaf(notice.body);
        return undefined;
      case "DeliverRejoinRequest":
        void found({ from: "relay", type: "asks_back", asker: notice.body });
        return undefined;
      case "DeliverChannelEnd":
        void found({ from: "relay", type: "ends", reason: notice.body.reason });
        return undefined;
      default:
        return undefined;
    }
  };
}
