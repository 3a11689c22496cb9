/**
 * The differences between states of a world of recovering members, and the moves that meet nobody.
 * As long as nothing is taken out of the log, everybody agrees on what all have read: that part of
 * it, and what follows from it, is left out.
 */
import { backOf, badOf } from "../../sdk/channel/testing/recovery.ts";
import type { Move } from "./explore.ts";
import { once, Renaming } from "./plain_state.ts";
import {
  type LetterCall,
  type MemberDisk,
  permitOf,
  type RecoveringMember,
} from "./recovering_member.ts";
import type { RecoveringState } from "./recovering_state.ts";
import type { Note, Relay } from "./relay_of_letters.ts";

/** `isForGood`: nothing is taken out of the log. */
export function viewOf(isForGood: boolean): (state: RecoveringState) => unknown {
  const view = once((member: RecoveringMember) => viewOfMember(member, isForGood));
  return ({ relay, members, foundings, groups, requests, fault, late }) => {
    const here = members.filter(({ ended }) => ended === undefined);
    const low = isForGood ? lowest(relay, here) : 0;
    const { sessions, entries, asking, members: known, ...log } = relay;
    const read = entries.filter(({ kind, sequence }) => kind === "commit" && sequence <= low);
    const gone = new Set(read.map(({ hash }) => hash));
    return {
      ...log,
      head: entries.length,
      entries: entries.filter(({ hash }) => !gone.has(hash)),
      known: isForGood
        ? Object.fromEntries(Object.entries(known).map(([name, { joined }]) => [name, joined]))
        : known,
      asking: Object.fromEntries(
        asking.map(({ agent, leaf }) => [agent, { leaf, by: requests[agent] }]),
      ),
      pipes: Object.fromEntries(
        Object.entries(sessions).map(([name, { tag, position, pipe }]) => {
          const notes = pipe.map((note) => note.type === "entry" ? note.entry : note);
          return [name, { isOpen: tag !== undefined, position, notes }];
        }),
      ),
      foundings,
      groups: Object.fromEntries(Object.entries(groups).filter(([hash]) => !gone.has(hash))),
      fault,
      late,
      members: Object.fromEntries(members.map((member) => [member.name, view(member)])),
    };
  };
}

/** Everybody has read up to there, and nobody has a Welcome from there. */
function lowest({ sessions, welcomes }: Relay, members: readonly RecoveringMember[]): number {
  const noted = Object.values(sessions).flatMap(({ pipe }) => pipe.flatMap(welcomeIn));
  const kept = members.flatMap(({ welcomes, recovery: { place } }) => {
    const back = backOf(place);
    const told = [...(back?.told ?? []), ...(back?.look === undefined ? [] : [back.look.at])];
    const by = told.flatMap((each) => each.of === "welcome" ? [each.told.welcome] : []);
    return [...by, ...welcomes.map(({ welcome }) => welcome)];
  });
  const joined = Object.values(welcomes).map((welcome) => welcome.joined);
  return Math.min(
    ...members.map(({ received, disk }) => Math.min(received ?? 0, disk.position)),
    ...[...noted, ...kept, ...joined].map((welcome) => welcome - 1),
  );
}

function welcomeIn(note: Note): readonly number[] {
  return note.type === "welcome" ? [note.joined] : [];
}

/**
 * Of no use to tell states apart: times, and how often somebody has asked. Nobody is refused for
 * that here.
 */
function viewOfMember(member: RecoveringMember, isForGood: boolean): unknown {
  const { connection, recovery, disk, logGeneration: _, isAllHere, ended, ...others } = member;
  if (ended !== undefined) return ended;
  const {
    place,
    cameBackMs: __,
    returnedMs: ___,
    numbers: ____,
    spent: _____,
    founding,
    ...state
  } = recovery;
  const back = backOf(place);
  const told = back && { ...back, answerers: undefined, reason: undefined };
  const counts = founding.at === "none" ? { waits: 0, refusals: 0 } : {};
  return {
    ...others,
    isOnline: connection > 0,
    isAllHere: badOf(place) === undefined || isAllHere,
    ...state,
    ...counts,
    founding,
    place: { ...place, back: told, askers: undefined },
    disk: viewOfDisk(disk, isForGood),
  };
}

const disks = new WeakMap<MemberDisk, unknown>();

function viewOfDisk(disk: MemberDisk, isForGood: boolean): unknown {
  const known = disks.get(disk);
  if (known !== undefined) return known;
  const { records: { cameBackMs: _, returnedMs: __, ...records }, own, kept, anchor, ...others } =
    disk;
  const { joinedSequence } = anchor;
  const viewed = Object.freeze({
    ...others,
    records: Object.freeze(records),
    ...(isForGood ? { joinedSequence } : { own, kept, anchor }),
  });
  disks.set(disk, viewed);
  return viewed;
}

/** One that hears something next, whose own moves ask nothing that others may change. */
export function alone(
  { relay, members }: RecoveringState,
  moves: readonly Move<RecoveringState>[],
): readonly Move<RecoveringState>[] | undefined {
  const one = members.find((member) => isAlone(relay, member));
  return one && moves.filter(({ name }) => name.startsWith(`${one.name}: `));
}

function isAlone(relay: Relay, member: RecoveringMember): boolean {
  const { name, link, calls, disk: { group }, recovery: { place }, ended } = member;
  if (ended !== undefined || link === "offline" || link === "connected") return false;
  const mayHelp = place.at === "in_step" && permitOf(member) !== undefined &&
    group.epoch === relay.epoch;
  const isHearing = (relay.sessions[name]?.pipe.length ?? 0) > 0;
  return isHearing && !mayHelp && calls.every((call) => isSettled(relay, call)) &&
    relay.asking.every(({ agent }) => agent !== name);
}

/** An answer that the log gives now and later. */
function isSettled({ entries }: Relay, { request, isClaim }: LetterCall): boolean {
  if (isClaim === true) return true;
  return request.op === "FindCommit" &&
    entries.some(({ kind, epoch }) => kind !== "message" && epoch === request.epoch);
}

/** Members that differ in nothing but their names, two of them exchanged. */
export function renamingsOf(alike: readonly string[]): readonly Renaming[] {
  return alike.flatMap((one, at) =>
    alike.slice(at + 1).map((other) =>
      new Renaming((text) => text.split(one).map((part) => part.replaceAll(other, one)).join(other))
    )
  );
}
