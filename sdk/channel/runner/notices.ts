/**
 * Words of the relay about a channel, when their turn has come: entries are read, the rest goes to
 * those that it is for.
 */
import type { RootDoor } from "./root_door.ts";
import type { LinkRunnerParts } from "./link_runner.ts";
import type { Rooms } from "./rooms.ts";

export function createNoticeReader(rooms: Rooms, found: RootDoor): LinkRunnerParts["read"] {
  const { reading: reader, confirmations, recovery } = rooms;
  return (notice, permit, reading) => {
    switch (notice.operation) {
      case "DeliverMessage":
      case "DeliverCommit":
      case "DeliverLeave":
      case "DeliverLapse":
      case "DeliverGap":
      case "DeliverFounding":
        return reader.read(notice, permit, reading);
      case "DeliverConfirmations":
        confirmations.told(notice.body);
        break;
      case "DeliverUnconfirmed":
        confirmations.unconfirmed(notice.body);
        break;
      case "DeliverLeaf":
        recovery.leaf(notice.body);
        break;
      case "DeliverRejoinRequest":
        void found({ from: "relay", type: "asks_back", asker: notice.body });
        break;
      case "DeliverChannelEnd":
        void found({ from: "relay", type: "ends", reason: notice.body.reason });
    }
    rooms.link.hasRead(reading);
  };
}
