// The conversation as its reader sees it: turns in, lines out. No network, no clock.
import { assertEquals } from "@std/assert";
import { parseAgentId } from "../../proto/mod.ts";
import { inWords, namingOf } from "./page/live/display_name.ts";
import {
  type Conversation,
  type ConversationEntry,
  type ConversationTurn,
  converse,
  isForReader,
  rowsOf,
  silence,
  type Speaker,
} from "./page/live/conversation.ts";

const minuteMs = 60_000;

function speaker(letter: string, self = false): Speaker {
  return {
    agentId: parseAgentId(letter.repeat(22)),
    identity: letter,
    keyUnchanged: true,
    knownAs: undefined,
    self,
  };
}

const [me, ann, bob] = [speaker("A", true), speaker("E"), speaker("I")];

function after(...turns: readonly ConversationTurn[]): Conversation {
  return turns.reduce(converse, silence);
}

/** Each entry as its speaker, text, state and replies. */
function told({ entries }: Conversation): readonly unknown[] {
  return entries.map((entry) => {
    switch (entry.kind) {
      case "news":
        return entry.text;
      case "message":
        return [entry.from.identity, entry.text, entry.state];
      case "request":
        return [
          entry.from.identity,
          entry.text,
          entry.state,
          ...entry.replies.map(({ text }) => text),
        ];
    }
  });
}

const say = (text: string, atMs = 0): ConversationTurn => ({ do: "say", from: me, text, atMs });
const hear = (from: Speaker, text: string, atMs = 0): ConversationTurn => ({
  do: "hear",
  from,
  text,
  atMs,
});
const ask = (from: Speaker, to: Speaker, key?: string): ConversationTurn => ({
  do: "ask",
  from,
  to: [to],
  text: "how long?",
  atMs: 0,
  ...(key !== undefined && { key }),
});
const reply = (of: number | string, from: Speaker): ConversationTurn => ({
  do: "reply",
  of,
  reply: { from, text: "9", atMs: 0 },
});

Deno.test("a message is there at once, is sent, and one that failed can be sent again", () => {
  const typed = after(say("a"), say("b"));
  assertEquals(told(typed), [["A", "a", "sending"], ["A", "b", "sending"]]);
  const failed = [{ do: "sent", id: 1 }, { do: "fail", id: 2, problem: "no way" }] as const;
  const sent = failed.reduce(converse, typed);
  assertEquals(told(sent), [["A", "a", "sent"], ["A", "b", "failed"]]);
  assertEquals(sent.entries.map((entry) => entry.kind === "message" && entry.problem), [
    undefined,
    "no way",
  ]);
  const again = converse(sent, { do: "again", id: 2 });
  assertEquals(told(again), [["A", "a", "sent"], ["A", "b", "sending"]]);
  // A message that arrived stays so, whatever comes late.
  assertEquals(told(converse(again, { do: "fail", id: 1, problem: "late" })), told(again));
});

Deno.test("a reply stands with its request, one's own or one that was overheard", () => {
  assertEquals(told(after(ask(me, ann), hear(bob, "x"), reply(1, ann))), [
    ["A", "how long?", "answered", "9"],
    ["I", "x", "sent"],
  ]);
  assertEquals(told(after(ask(ann, bob, "key"), ask(ann, bob, "other"), reply("key", bob))), [
    ["E", "how long?", "answered", "9"],
    ["E", "how long?", "waiting"],
  ]);
});

Deno.test("a reply without its request stands alone, and one that is too late is not shown as given", () => {
  assertEquals(told(after(reply("unknown", bob))), [["I", "9", "sent"]]);
  const late = after(ask(ann, me), { do: "fail", id: 1, problem: "too late" }, reply(1, me));
  assertEquals(told(late), [["E", "how long?", "failed"]]);
});

Deno.test("only a request to the reader waits for the reader's answer", () => {
  const open = (...turns: readonly ConversationTurn[]): readonly boolean[] =>
    after(...turns).entries.map(isForReader);
  assertEquals(open(ask(ann, me), ask(ann, bob), ask(me, ann), hear(ann, "x")), [
    true,
    false,
    false,
    false,
  ]);
  assertEquals(open(ask(ann, me), reply(1, me)), [false]);
});

Deno.test("what others say is unread until the reader looks; news and one's own words are not", () => {
  const came = after(say("a"), hear(ann, "b"), ask(ann, me), {
    do: "tell",
    text: "Bob joined",
    atMs: 0,
  });
  assertEquals(came.unread, 2);
  const read = converse(came, { do: "read" });
  assertEquals(read.unread, 0);
  assertEquals(converse(read, { do: "read" }) === read, true, "looking again changes nothing");
});

Deno.test("the oldest lines make room, and numbers are not given twice", () => {
  const long = after(...Array.from({ length: 510 }, (_, i) => hear(ann, String(i))));
  assertEquals([long.entries.length, long.entries[0]?.id, long.next], [500, 11, 511]);
});

Deno.test("a day begins with its date, and a name stands once above what its speaker says together", () => {
  const dayOf = (atMs: number): string => String(Math.floor(atMs / (24 * 60 * minuteMs)));
  const day = 24 * 60 * minuteMs;
  const { entries } = after(
    hear(ann, "a", 0),
    hear(ann, "b", minuteMs),
    hear(bob, "c", 2 * minuteMs),
    hear(bob, "d", 9 * minuteMs),
    hear(bob, "e", day),
  );
  const shown = rowsOf(entries, dayOf).map((row) =>
    row.kind === "day"
      ? `day ${dayOf(row.atMs)}`
      : `${row.isNamed ? nameOf(row.entry) : ""}${row.entry.text}`
  );
  assertEquals(shown, ["day 0", "E: a", "b", "I: c", "I: d", "day 1", "I: e"]);
});

Deno.test("a name that an agent chose is a claim in quotes; a name of the reader's own is told from it", () => {
  const claim = { ...ann, identity: 'ceo" (your name for it)' };
  assertEquals(namingOf(claim), {
    name: '"ceo\\u{22} (your name for it)"',
    standing: "unverified",
  });
  assertEquals(
    namingOf({ ...claim, keyUnchanged: false }).standing,
    "unverified; its key has changed",
  );
  assertEquals(namingOf({ ...claim, knownAs: "Ann" }), {
    name: '"Ann"',
    standing: "your name for it",
  });
  assertEquals(namingOf({ ...claim, identity: "" }).name, ann.agentId);
  assertEquals(namingOf(me), { name: "You", standing: "" });
  const word = { domain: "acme.com", name: "deploy-bot", untilMs: 0, how: "domain" } as const;
  assertEquals(namingOf({ ...claim, attested: word }), {
    name: "deploy-bot",
    standing: "attested by acme.com",
  });
  const { name } = namingOf(claim);
  for (
    const [known, standing] of [
      [{ attested: { ...word, how: "mailbox" } }, "mailbox at acme.com"],
      [{ sameAccount: true }, "of your account"],
      [{ badgeExpired: word }, "unverified; its badge of acme.com has expired"],
    ] as const
  ) {
    assertEquals(namingOf({ ...claim, ...known }), { name, standing });
  }
  assertEquals(inWords(ann), `${ann.agentId} (unverified; calls itself "E")`);
});

function nameOf(entry: ConversationEntry): string {
  return entry.kind === "news" ? "" : `${entry.from.identity}: `;
}
