/**
 * Tells the rooms of a channel what the root says. Returns a promise when somebody has to wait
 * until it is carried out.
 */
import { putLog } from "../records.ts";
import type {
  RootEffect,
  ToConfirmations,
  ToDeparture,
  ToDuties,
  ToLink,
  ToPosition,
  ToReading,
  ToRecovery,
} from "../root/root_state.ts";
import type { Rooms } from "./rooms.ts";

type RoomEffect = Exclude<RootEffect, { readonly to: "names" | "program" | "self" | "all" }>;
type RoomCompletion = Promise<void> | undefined;

export function tellRoom(rooms: Rooms, effect: RoomEffect): RoomCompletion {
  switch (effect.to) {
    case "link":
      return tellLink(rooms, effect.tell);
    case "recovery":
      return tellRecovery(rooms, effect.tell);
    case "departure":
      return tellDeparture(rooms, effect.tell);
    case "duties":
      return tellDuties(rooms, effect.tell);
    case "commits":
      return void rooms.commits[effect.tell]();
    case "outbox":
      return effect.tell === "look" ? tellLook(rooms) : rooms.outbox.restart();
    case "confirmations":
      return tellConfirmations(rooms, effect.tell);
    case "reading":
      return tellReading(rooms, effect.tell);
    case "position":
      return tellPosition(rooms, effect.tell);
    case "content":
      rooms.service.connected(effect.tell.head);
      return void rooms.requester.connected();
    case "members":
      if (effect.tell === "begun") rooms.membership.departures.reportLapsed();
      else {
        rooms.newcomers.look(rooms.membership.agentIds);
        rooms.epochs.look();
      }
      return void rooms.watch.look();
  }
}

/** Receipts are messages of this agent, too. */
function tellLook({ outbox, receipts }: Rooms): undefined {
  outbox.look();
  receipts.look();
}

function tellLink({ link }: Rooms, told: ToLink): undefined {
  if (told.type === "connection") link.connection(told.isOnline);
  else link.push(told);
}

/** Some go on with what is on disk behind the step. */
function tellRecovery({ recovery, membership }: Rooms, told: ToRecovery): RoomCompletion {
  if ("is" in told) {
    if (told.is === "behind_stop") return void recovery.countUnread(told.sequence);
    return void recovery.stopAt(membership.badCommitOf(told.body, told.reason), told.reason);
  }
  return told.type === "permit" ? recovery.tell(told) : void recovery.push(told);
}

function tellDeparture({ departure }: Rooms, told: ToDeparture): undefined {
  if (told.type === "founding") departure.foundingSettled(told.why);
  else departure[told.type]();
}

function tellDuties({ duties }: Rooms, told: ToDuties): undefined {
  switch (told.type) {
    case "start":
    case "rest":
      return void duties[told.type]();
    case "left":
      return void duties.left(told.agentId);
    case "asked":
      return void duties.asked(told.asker);
  }
}

function tellConfirmations({ confirmations }: Rooms, told: ToConfirmations): undefined {
  switch (told.type) {
    case "connection":
      return void confirmations.connection(told.isOnline);
    case "confirm":
      return void confirmations.confirm();
    case "replaced":
      return void confirmations.restart(told.formerEpoch);
  }
}

function tellReading({ reading, turns }: Rooms, told: ToReading): undefined {
  switch (told.type) {
    case "begins":
      return void reading.begin(told.after, told.head);
    case "founded":
      return void reading.founded(told.begun);
    case "replaced":
      return void reading.restart(told.joinedSequence);
    case "lost":
      return void reading.lose();
    case "room":
      // Behind what is being read.
      return void turns.take(() => {
        reading.resumeReading();
        turns.end();
      });
  }
}

function tellPosition({ position, receipts, channelId }: Rooms, told: ToPosition): RoomCompletion {
  switch (told.type) {
    case "lost":
      return void position.lose(told.after);
    case "log":
      return void position.note(told.log === undefined ? [] : [putLog(channelId, told.log)]);
    case "replaced":
      position.restart(told.joinedSequence);
      return void receipts.entered();
    case "forgotten":
      return void position.forget();
    case "flush":
      return position.flush();
  }
}
