// The auditor must find what it is there for: every broken promise, told apart from what is
// allowed.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { audit } from "./auditor.ts";
import type { Event, Journal } from "./journal.ts";

/** Each says two texts; `heard` is what came to whom, by default everything once. */
interface Story {
  readonly heard?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly more?: Readonly<Record<string, readonly Event[]>>;
}

const residents = ["ann", "ben", "cat"];
const usual: Readonly<Record<string, readonly string[]>> = {
  ann: ["ben 1", "cat 1", "ben 2", "cat 2"],
  ben: ["ann 1", "cat 1", "ann 2", "cat 2"],
  cat: ["ann 1", "ben 1", "ann 2", "ben 2"],
};

function hear(text: string): Event {
  return { event: "heard", text, id: `id of ${text}`, from: text.slice(0, 3) };
}

function say(text: string, atMs: number): Event[] {
  return [{ event: "sending", text, atMs }, {
    event: "accepted",
    text,
    id: `id of ${text}`,
    atMs: atMs + 1,
  }];
}

function tell({ heard = {}, more = {} }: Story): ReturnType<typeof audit> {
  const names = [...new Set([...residents, ...Object.keys(heard), ...Object.keys(more)])];
  const journals = names.map((agent): Journal => {
    const said = usual[agent] === undefined
      ? []
      : [...say(`${agent} 1`, 100), ...say(`${agent} 2`, 200)];
    const lives = (heard[agent] ?? [usual[agent] ?? []]).map((texts) => texts.map(hear));
    return {
      agent,
      lives: [[...said, ...(more[agent] ?? []), ...(lives[0] ?? [])], ...lives.slice(1)],
    };
  });
  return audit(journals, residents);
}

function assertViolation(story: Story, text: string): void {
  assertStringIncludes(tell(story).violations.join("\n"), text);
}

Deno.test("the auditor accepts a run in which everybody heard everything once", () => {
  const { violations, accepted, heard, repeated } = tell({});
  assertEquals([violations, accepted, heard, repeated], [[], 6, 12, 0]);
});

Deno.test("the auditor finds a lost text, also when nobody heard it", () => {
  assertViolation(
    { heard: { ann: [["ben 1", "cat 1", "cat 2"]] } },
    'ann never heard 1 texts, first "ben 2"',
  );
  const nobody = { ann: [["ben 1", "cat 1", "ben 2"]], ben: [["ann 1", "cat 1", "ann 2"]] };
  assertViolation({ heard: nobody }, 'ben never heard 1 texts, first "cat 2"');
});

Deno.test("the auditor finds a text that came twice, and allows it only at the seam of a crash", () => {
  assertViolation(
    { heard: { ann: [["ben 1", "cat 1", "ben 2", "ben 1", "cat 2"]] } },
    'ann heard "ben 1" twice',
  );
  assertViolation(
    { heard: { ann: [["ben 1", "cat 1"], ["ben 1", "ben 2", "cat 2"]] } },
    'ann heard "ben 1" twice',
  );
  const { violations, repeated } = tell({
    heard: { ann: [["ben 1", "cat 1", "ben 2"], ["cat 1", "ben 2", "cat 2"]] },
  });
  assertEquals([violations, repeated], [[], 2]);
});

Deno.test("the auditor finds a text that came twice although the life before had closed", () => {
  const lives = [[hear("ben 1"), { event: "closed" } as const], [hear("ben 1")]];
  const ben: Journal = { agent: "ben", lives: [say("ben 1", 1)] };
  assertEquals(audit([{ agent: "ann", lives }, ben], ["ann", "ben"]).violations, [
    'ann heard "ben 1" twice',
  ]);
});

Deno.test("the auditor finds two orders, between members and of one sender", () => {
  assertViolation(
    { heard: { cat: [["ann 2", "ben 1", "ann 1", "ben 2"]] } },
    "There is no one order",
  );
  const swapped = {
    ann: [["ben 2", "cat 1", "ben 1", "cat 2"]],
    cat: [["ann 1", "ben 2", "ann 2", "ben 1"]],
  };
  assertViolation({ heard: swapped }, "There is no one order");
});

Deno.test("the auditor finds texts that nobody sent, that another sent, or that were refused", () => {
  assertViolation(
    { heard: { ann: [["ben 1", "cat 1", "ben 2", "cat 2", "ben 3"]] } },
    'heard "ben 3", which nobody sent',
  );
  const forged: Event = { event: "heard", text: "ann 1", id: "id of ann 1", from: "ben" };
  assertViolation({ more: { dan: [forged] } }, `dan heard "ann 1" as ben's; it was ann's`);
  const refused: Event[] = [
    { event: "sending", text: "dan 1", atMs: 5 },
    { event: "failed", text: "dan 1", code: "quota_exceeded", words: "" },
  ];
  const heard = { ann: [["dan 1", "ben 1", "cat 1", "ben 2", "cat 2"]] };
  assertViolation({ heard, more: { dan: refused } }, 'ann heard "dan 1", which was refused');
});

Deno.test("the auditor holds guests to what was sent while they were members, without holes", () => {
  const member: Event[] = [{ event: "joining", atMs: 120 }, { event: "joined", atMs: 150 }];
  assertEquals(
    tell({ heard: { dan: [["ann 2", "ben 2", "cat 2"]] }, more: { dan: member } }).violations,
    [],
  );
  assertViolation(
    { heard: { dan: [["ann 2", "ben 2"]] }, more: { dan: member } },
    'never heard "cat 2"',
  );
  assertViolation(
    { heard: { dan: [["ann 2", "cat 2"]] }, more: { dan: member } },
    "dan missed 1 texts",
  );
  const early = { dan: [["cat 1", "ann 2", "ben 2", "cat 2"]] };
  assertViolation(
    { heard: early, more: { dan: member } },
    'heard "cat 1", which was accepted before it came',
  );
  const left: Event[] = [...member, { event: "leaving", atMs: 160 }];
  assertEquals(tell({ heard: { dan: [[]] }, more: { dan: left } }).violations, []);
});

Deno.test("the auditor finds two states of one epoch", () => {
  const at = (epoch: number, fingerprint: string): Event => ({
    event: "epoch",
    epoch,
    fingerprint,
  });
  assertEquals(tell({ more: { ann: [at(1, "1"), at(2, "2")], ben: [at(2, "2")] } }).epochs, 2);
  assertViolation(
    { more: { ann: [at(1, "1")], ben: [at(1, "2")] } },
    "ben and ann have different states at epoch 1",
  );
});
