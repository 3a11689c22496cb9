/**
 * Each word of the root reaches the room that it is for. The types name every word, so that a new
 * one needs its line here.
 */
import { assertEquals } from "@std/assert";
import { tellRoom } from "./root_effects.ts";
import type { Rooms } from "./rooms.ts";

type Effect = Parameters<typeof tellRoom>[1];
type KindOf<Tell> = Tell extends string ? Tell
  : Tell extends { readonly type: infer Kind } ? Kind
  : Tell extends { readonly is: infer Kind } ? Kind
  : never;
type Words = {
  readonly [To in Effect["to"]]: Readonly<
    Record<KindOf<Extract<Effect, { readonly to: To }>["tell"]> & string, string>
  >;
};

const push = "link.push";
const recovers = "recovery.push";

const words: Words = {
  link: {
    connection: "link.connection",
    ...{
      all_arrived: push,
      hold: push,
      retry: push,
      out_of_step: push,
      asked_back: push,
      durable: push,
      fetch: push,
    },
  },
  recovery: {
    ...{
      connected: recovers,
      doubt: recovers,
      log_at: recovers,
      ended: recovers,
      out_of_step: recovers,
    },
    ...{
      stop_read: recovers,
      removed: recovers,
      asker: recovers,
      all_shown: recovers,
      leaves: recovers,
    },
    ...{ halt: recovers, resume: recovers },
    permit: "recovery.tell",
    stopped: "membership.badCommitOf recovery.stopAt",
    behind_stop: "recovery.countUnread",
  },
  departure: {
    entered: "departure.entered",
    look: "departure.look",
    told: "departure.told",
    founding: "departure.foundingSettled",
  },
  duties: {
    start: "duties.start",
    rest: "duties.rest",
    left: "duties.left",
    asked: "duties.asked",
  },
  commits: { look: "commits.look", left: "commits.left", replaced: "commits.replaced" },
  outbox: { look: "outbox.look receipts.look", replaced: "outbox.restart" },
  confirmations: {
    connection: "confirmations.connection",
    confirm: "confirmations.confirm",
    replaced: "confirmations.restart",
  },
  reading: {
    begins: "reading.begin",
    founded: "reading.founded",
    replaced: "reading.restart",
    lost: "reading.lose",
    room: "turns.take reading.resumeReading turns.end",
  },
  position: {
    lost: "position.lose",
    log: "position.note",
    replaced: "position.restart receipts.entered",
    forgotten: "position.forget",
    flush: "position.flush",
  },
  content: { connected: "service.connected requester.connected" },
  members: {
    begun: "membership.departures.reportLapsed watch.look",
    replaced: "newcomers.look epochs.look watch.look",
  },
};

/** Rooms that note by which of their methods they are told. */
function listening(heard: string[]): Rooms {
  const room = (name: string): unknown =>
    new Proxy({}, {
      get: (_, method) =>
        method === "departures" ? room(`${name}.departures`) : (run: unknown): void => {
          heard.push(`${name}.${String(method)}`);
          if (method === "take" && typeof run === "function") run();
        },
    });
  // cast: nothing but methods is asked of it
  return new Proxy({}, { get: (_, name) => room(String(name)) }) as Rooms;
}

for (const [to, kinds] of Object.entries(words)) {
  Deno.test(`each word of the root to ${to} reaches it`, () => {
    for (const [kind, expected] of Object.entries(kinds)) {
      const heard: string[] = [];
      const isBare = to === "commits" || to === "outbox" || to === "members";
      const isFound = kind === "stopped" || kind === "behind_stop";
      const tell = isBare ? kind : isFound ? { is: kind } : { type: kind };
      // cast: what is told beside it only passes through
      tellRoom(listening(heard), { to, tell } as Effect);
      assertEquals(heard.join(" "), expected, kind);
    }
  });
}
