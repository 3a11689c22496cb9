/**
 * The process of an agent that leaves dies at any write to its disk, and when the relay is asked:
 * the agent stays, or the relay knows that it has left, and tells it so on the next connection.
 */
import { assert, assertEquals } from "@std/assert";
import { type Actor, allAgree, issueCount, Stage, until } from "../../support/scenario/stage.ts";

/** After so many writes, or with the call to the relay: not sent, or taken and not answered. */
type Moment = number | "asked" | "taken";

/** Leaving and erasing have fewer. */
const maxWrites = 30;

function diesAt(leaver: Actor, moment: Moment): Promise<void> {
  if (typeof moment === "number") return leaver.diesAfter(moment);
  const { promise, resolve } = Promise.withResolvers<void>();
  leaver.session.tampering.call = async (operation, _, forward) => {
    if (operation !== "LeaveChannel") return await forward();
    if (moment === "taken") await forward();
    void leaver.diesAfter(0);
    resolve();
    return await new Promise(() => {});
  };
  return promise;
}

/** As the relay says. */
async function isMember(actor: Actor, other: Actor): Promise<boolean> {
  const { channelId } = await other.inside();
  const { members } = await other.session.call("ListMembers", { channelId });
  return members.some(({ agentId, leaving }) => agentId === actor.client.agentId && !leaving);
}

/** Returns its end, or undefined when its process has lived to see it. */
async function leaves(
  role: "owner" | "member",
  moment: Moment,
): Promise<"stays" | "left" | undefined> {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await allAgree(alice, bob);
  const [leaver, other] = role === "owner" ? [alice, bob] : [bob, alice];
  const channel = await leaver.channel();
  const successor = role === "owner" ? other.client.agentId : undefined;
  const dead = diesAt(leaver, moment).then(() => true);
  const leaving = channel.leave(successor === undefined ? {} : { successor }).then(
    () => false,
    () => dead,
  );
  if (!await Promise.race([dead, leaving])) return undefined;
  await leaver.crash();
  const stays = await isMember(leaver, other);
  if (stays) {
    await allAgree(leaver, other);
    await (await leaver.channel()).leave(successor === undefined ? {} : { successor });
  } else {
    // The relay says it, unless the keys are gone already.
    const inside = await leaver.inside().catch(({ code }) => assertEquals(code, "not_found"));
    await until(
      "its next process knows that it has left",
      () => inside?.over !== undefined || inside === undefined,
    );
    if (inside !== undefined) assertEquals(inside.over?.code, "not_found");
  }
  const rest = await other.channel();
  await until("the other one is alone", () => rest.members().length === 1);
  assertEquals([rest.members()[0]?.owner, issueCount(rest, "void_leave")], [true, 0]);
  return stays ? "stays" : "left";
}

for (const role of ["owner", "member"] as const) {
  Deno.test(`an agent that leaves dies at any write to its disk: ${role}`, async () => {
    const ends: string[] = [];
    for (
      let end = await leaves(role, 0);
      end !== undefined;
      end = await leaves(role, ends.length)
    ) {
      assert(ends.push(end) < maxWrites);
    }
    // An owner writes a commit before the relay is asked.
    assertEquals(
      [ends.includes("left"), ends.includes("stays") || role === "member"],
      [true, true],
      ends.join(),
    );
  });

  Deno.test(`an agent that leaves dies when the relay is asked: ${role}`, async () => {
    assertEquals([await leaves(role, "asked"), await leaves(role, "taken")], ["stays", "left"]);
  });
}
