/**
 * A relay that shows members different logs, each of them whole as far as counters tell: the next
 * word of a member that has seen another one tells. An honest relay is blamed for nothing, whatever
 * happens to its members.
 */
import { assert, assertEquals } from "@std/assert";
import type { NoticeBody, NoticeEnvelope } from "../../../proto/mod.ts";
import type { HealthIssue } from "../../../sdk/mod.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

type Delivered = NoticeBody<"DeliverMessage">;

function noticeOf(body: Delivered): NoticeEnvelope {
  return { kind: "notice", operation: "DeliverMessage", body };
}

/**
 * The next two messages, which follow each other, reach this member in the other order, each under
 * the other's number.
 */
function swapNext(member: Actor): void {
  let held: Delivered | undefined;
  member.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverMessage") return [notice];
    const { body } = notice;
    if (held === undefined || held.sequence === body.sequence) {
      held = body;
      return [];
    }
    const [first, second] = [held, body];
    const told = new Map([[first.sequence, second], [second.sequence, first]]);
    member.session.tampering.notice = (later) => {
      const other = later.operation === "DeliverMessage"
        ? told.get(later.body.sequence)
        : undefined;
      return other === undefined || later.operation !== "DeliverMessage"
        ? [later]
        : [noticeOf({ ...other, sequence: later.body.sequence })];
    };
    return [
      noticeOf({ ...second, sequence: first.sequence }),
      noticeOf({ ...first, sequence: second.sequence }),
    ];
  };
}

/** The next message never reaches this member. */
function withholdNext(member: Actor): void {
  let sequence: number | undefined;
  member.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverMessage") return [notice];
    sequence ??= notice.body.sequence;
    return notice.body.sequence === sequence ? [] : [notice];
  };
}

async function orderIssues(...actors: readonly Actor[]): Promise<HealthIssue[]> {
  const all = await Promise.all(
    actors.map(async (actor) => (await actor.channel()).health().issues),
  );
  return all.flat().filter(({ kind }) => kind === "reordered" || kind === "missing_tail");
}

async function say(sender: Actor, text: string, ...readers: readonly Actor[]): Promise<void> {
  await sender.manager.send(name, text);
  for (const reader of readers) {
    // After a crash others come again before it.
    while ((await read(await reader.channel(), 1))[0] !== text);
  }
}

/**
 * Resolves when this member has noticed it by the other's word, with an entry among those that are
 * named.
 */
async function noticed(
  member: Actor,
  kind: HealthIssue["kind"],
  by: Actor,
  entry: number,
): Promise<void> {
  let text = "";
  await until(`${member.label} has noticed ${kind}`, async () => {
    const issues = await orderIssues(member);
    text = issues.find((each) =>
      each.kind === kind && each.text.startsWith(by.client.agentId)
    )?.text ?? "";
    return text !== "";
  });
  const [first = 0, last = 0] = /entries (\d+) to (\d+)/.exec(text)?.slice(1).map(Number) ?? [];
  assert(first <= entry && entry <= last, text);
}

Deno.test("members that are shown messages of two senders in different orders learn it from each other's next word", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await say(alice, "zero", bob, carol);
  swapNext(carol);
  await say(bob, "first", alice);
  await say(alice, "second", bob);
  assertEquals(await read(await carol.channel(), 2), ["second", "first"]);
  await noticed(carol, "reordered", alice, 4);
  await say(bob, "I have seen", alice, carol);
  await noticed(carol, "reordered", bob, 5);
  await say(carol, "something else", alice, bob);
  await noticed(alice, "reordered", carol, 6);
  await noticed(bob, "reordered", carol, 6);
  assertEquals((await orderIssues(alice, bob, carol)).length, 4);
});

Deno.test("a tail that is kept from a member is noticed with the next word of somebody who has seen it", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await say(alice, "zero", bob, carol);
  withholdNext(carol);
  await say(bob, "the last one", alice);
  await say(alice, "and now", bob, carol);
  await noticed(carol, "missing_tail", alice, 4);
  assertEquals((await carol.channel()).health().missing, []);
  await say(carol, "what did I miss", alice, bob);
  await noticed(bob, "missing_tail", carol, 5);
});

Deno.test("a tail of an epoch is noticed in the next one", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await say(alice, "zero", bob, carol);
  withholdNext(carol);
  await say(bob, "the last one", alice);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol, dave);
  await say(alice, "and now", bob, carol, dave);
  await noticed(carol, "missing_tail", alice, 5);
  await say(dave, "I am new here", alice, bob, carol);
  assertEquals((await orderIssues(alice, bob, dave)).length, 0);
});

Deno.test("an honest relay is blamed for nothing when members are killed, restarted, join and lose answers", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const all = [alice, bob, carol];
  for (const sender of all) {
    await say(
      sender,
      `from ${sender.label}`,
      ...all.filter((each) => each !== sender),
    );
  }
  await alice.crash();
  await bob.restart();
  for (const sender of all) {
    await say(
      sender,
      `again ${sender.label}`,
      ...all.filter((each) => each !== sender),
    );
  }
  bob.session.loseReplies = 1;
  const lost = say(bob, "lost", alice, carol);
  await until("the reply is lost", () => bob.session.loseReplies === 0);
  bob.session.disconnect();
  await bob.session.connect();
  await lost;
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(...all, dave);
  for (const sender of [...all, dave]) await say(sender, `then ${sender.label}`);
  assertEquals(await orderIssues(...all, dave), []);
});
