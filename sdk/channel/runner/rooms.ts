/** The rooms of a channel, by their names. */
import type { ChannelId } from "../../../proto/mod.ts";
import type { EventStream } from "../../base/event_stream.ts";
import type { Requester } from "../../content/requester.ts";
import type { Service } from "../../content/service.ts";
import type { ChannelEvent } from "../events.ts";
import type { HealthLog } from "../health.ts";
import type { Membership } from "../group/membership.ts";
import type { Newcomers } from "../group/newcomers.ts";
import type { Senders } from "../reading/senders.ts";
import type { StoreAge } from "./store_age.ts";
import type { MemberWatch } from "../member_watch.ts";
import type { ChannelQueue } from "./channel_queue.ts";
import type { CommitRunner } from "./commit_runner.ts";
import type { ConfirmationRunner } from "./confirmation_runner.ts";
import type { DepartureRunner } from "./departure_runner.ts";
import type { DutiesRunner } from "./duties_runner.ts";
import type { EpochWaiters } from "./epoch_waiters.ts";
import type { InboxRunner } from "./inbox_runner.ts";
import type { KeyAgeRunner } from "./key_age_runner.ts";
import type { LinkRunner } from "./link_runner.ts";
import type { OrderRunner } from "./order_runner.ts";
import type { OutboxRunner } from "./outbox_runner.ts";
import type { PositionRunner } from "./position_runner.ts";
import type { ReceiptRunner } from "./receipt_runner.ts";
import type { ReadingRunner } from "./reading_runner.ts";
import type { RecoveryRunner } from "./recovery_runner.ts";
import type { LogTurns } from "./log_turns.ts";

export interface Rooms {
  readonly channelId: ChannelId;
  readonly events: EventStream<ChannelEvent>;
  readonly turns: LogTurns;
  readonly queue: ChannelQueue;
  readonly health: HealthLog;
  readonly membership: Membership;
  readonly epochs: EpochWaiters;
  readonly watch: MemberWatch;
  readonly newcomers: Newcomers;
  readonly storeAge: StoreAge;
  readonly senders: Senders;
  readonly commits: CommitRunner;
  readonly ages: KeyAgeRunner;
  readonly confirmations: ConfirmationRunner;
  readonly order: OrderRunner;
  readonly outbox: OutboxRunner;
  readonly receipts: ReceiptRunner;
  readonly requester: Requester;
  readonly service: Service;
  readonly inbox: InboxRunner;
  readonly reading: ReadingRunner;
  readonly position: PositionRunner;
  readonly duties: DutiesRunner;
  readonly recovery: RecoveryRunner;
  readonly link: LinkRunner;
  readonly departure: DepartureRunner;
  /** The channel cannot go on. */
  readonly onFault: (fault: unknown) => void;
}
