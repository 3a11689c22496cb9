/** Every transition, one by one. Orders of events are tried in tests/small_worlds. */
import { assertEquals } from "@std/assert";
import type { AgentId } from "../../../proto/mod.ts";
import { calmPermit } from "../testing/calm_agent.ts";
import { stepDeparture } from "./departure.ts";
import {
  type DepartureEffect,
  type DepartureEnd,
  type DepartureEvent,
  type DepartureFacts,
  type DepartureWait,
  isAskedFor,
  newDeparture,
  stageOf,
} from "./departure_state.ts";

const calm: DepartureFacts = {
  work: calmPermit(),
  isOnWayBack: false,
  isBlocked: false,
  hasFounding: false,
  isAlone: false,
  isAnyAbsent: false,
  isOwner: true,
  isLastOwner: false,
  doOthersStay: true,
  isAllRead: true,
  mayName: true,
};
const away = { work: undefined, isOnWayBack: true, isBlocked: true };

class Agent {
  readonly state = newDeparture();
  facts: DepartureFacts;
  effects: DepartureEffect[] = [];
  #operations = 0;

  constructor(facts: Partial<DepartureFacts> = {}) {
    this.facts = { ...calm, ...facts };
  }

  get going(): DepartureWait | undefined {
    return this.state.departure.at === "going" ? this.state.departure.going : undefined;
  }

  get at(): string {
    return this.going?.at ?? this.state.departure.at;
  }

  know(facts: Partial<DepartureFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  step(event: DepartureEvent): this {
    this.effects.push(...stepDeparture(this.state, event, this.facts).effects);
    return this;
  }

  leave(successor?: string): this {
    const named = successor as AgentId | undefined; // cast: nobody parses it here
    return this.step({ type: "leave", operation: ++this.#operations, successor: named });
  }

  changed(code?: string, isHidden = false): this {
    const { going } = this;
    const why = code === undefined ? undefined : { code, isHidden };
    return going !== undefined && "change" in going
      ? this.step({ type: "changed", change: going.change, why })
      : this;
  }

  get #call(): number {
    return this.going !== undefined && "call" in this.going ? this.going.call : 0;
  }

  done(): this {
    return this.step({ type: "done", call: this.#call });
  }

  refused(code: string, isHidden = false): this {
    return this.step({ type: "refused", call: this.#call, why: { code, isHidden } });
  }

  time(): this {
    const { going } = this;
    return this.step({
      type: "time",
      timer: going !== undefined && "timer" in going ? going.timer : 0,
    });
  }

  over(how: DepartureEnd): this {
    return this.step({ type: "over", how });
  }

  get stage(): string {
    return stageOf(this.state);
  }

  get said(): string {
    return this.effects.map(({ type }) => type).join(" ");
  }

  /** The word that it is over, and the calls that wait. */
  get word(): string {
    return this.effects.flatMap((effect) =>
      effect.type === "ended" ? [`${effect.how}: ${effect.operations.join()}`] : []
    ).join(" ");
  }

  get ended(): string[] {
    return this.effects.flatMap((effect) => {
      if (effect.type !== "settle") return [];
      return [effect.result.is === "failed" ? effect.result.why : effect.result.why.code];
    });
  }
}

const saying = (facts?: Partial<DepartureFacts>): Agent =>
  new Agent(facts).leave().changed().changed();

Deno.test("leaving: what is open is settled, a successor is made, and the relay is told", () => {
  const agent = new Agent().leave();
  assertEquals([agent.at, agent.stage], ["settling", "leaving"]);
  assertEquals(agent.changed().at, "handing_on");
  assertEquals([agent.changed().at, agent.stage], ["saying", "goodbye"]);
  assertEquals([agent.done().at, agent.stage], ["ended", "goodbye"]);
  assertEquals([agent.said, agent.leave().word], ["change change say ended", "gone: 1 gone: 2"]);
});

Deno.test("leaving: others wait with the first call, unless they name another successor", () => {
  const agent = new Agent().leave("bob").leave().leave("bob").leave("carol");
  assertEquals(agent.ended, ["leaving"]);
  assertEquals(agent.changed("overloaded").ended, [
    "leaving",
    "overloaded",
    "overloaded",
    "overloaded",
  ]);
  assertEquals([agent.at, agent.stage], ["staying", "staying"]);
});

Deno.test("leaving: the last owner waits for its way back, and is kept where others would be left without one", () => {
  const lastOwner = { ...away, isLastOwner: true };
  const agent = new Agent(lastOwner).leave();
  assertEquals(agent.at, "waiting_back");
  assertEquals(agent.step({ type: "look" }).at, "waiting_back", "still on its way");
  assertEquals(new Agent(lastOwner).leave().know(calm).step({ type: "look" }).at, "settling");
  assertEquals(new Agent(lastOwner).leave().know(calm).step({ type: "entered" }).at, "settling");
  assertEquals([agent.time().at, agent.ended], ["staying", ["kept_out"]]);
  assertEquals(new Agent({ ...lastOwner, doOthersStay: false }).leave().time().at, "saying");
  assertEquals(new Agent(away).leave("bob").ended, ["kept_out"]);
  assertEquals(new Agent(away).leave().at, "saying");
  const stopped = { ...away, isOnWayBack: false };
  assertEquals(new Agent({ ...stopped, isLastOwner: true }).leave().ended, ["kept_out"]);
  assertEquals(new Agent({ ...stopped, isAlone: true, isAnyAbsent: true }).leave().ended, [
    "kept_out",
  ]);
  assertEquals([new Agent(stopped).leave("bob").ended, new Agent(stopped).leave().at], [[
    "kept_out",
  ], "saying"]);
});

Deno.test("leaving: the log is asked for a founding of ours first", () => {
  const stopped = { isBlocked: true, hasFounding: true };
  const asking = (): Agent => new Agent(stopped).leave();
  const answered = (code: string): Agent => asking().step({ type: "founding", why: { code } });
  assertEquals([asking().at, asking().said], ["founding", "wake settle_founding"]);
  assertEquals(asking().step({ type: "founding", why: undefined }).at, "saying");
  assertEquals(asking().know(calm).step({ type: "entered" }).at, "settling");
  assertEquals(
    [asking().step({ type: "look" }).at, asking().know(calm).step({ type: "look" }).at],
    [
      "founding",
      "settling",
    ],
  );
  // The log may hold it all the same.
  assertEquals([asking().time().at, asking().time().ended], ["staying", ["founding"]]);
  assertEquals(answered("overloaded").ended, ["overloaded"]);
  assertEquals([answered("not_found").at, answered("membership_lapsed").at], ["saying", "saying"]);
});

Deno.test("leaving: one that is alone closes the channel, if it may, and nobody waits to be let in", () => {
  const alone = { isAlone: true };
  const closing = (facts: Partial<DepartureFacts> = {}): Agent =>
    new Agent({ ...alone, ...facts }).leave().changed();
  assertEquals([closing().at, closing().stage, closing().done().at], [
    "closing",
    "goodbye",
    "ended",
  ]);
  assertEquals([closing().refused("not_allowed").at, closing().refused("not_allowed").stage], [
    "handing_on",
    "leaving",
  ]);
  assertEquals(closing().refused("overloaded").ended, ["overloaded"]);
  assertEquals(closing({ isAnyAbsent: true }).ended, ["absent"]);
  assertEquals(closing({ isAnyAbsent: true, isOwner: false }).at, "handing_on");
  assertEquals([closing({ isAllRead: false }).at, closing({ work: undefined }).at], [
    "handing_on",
    "handing_on",
  ]);
});

Deno.test("leaving: the relay tells the end that it is asked for before it answers", () => {
  const ends = ["left", "closed", "removed", "recovered", "lapsed", "unknown"] as const;
  const heard = ({ state }: Agent): string => ends.filter((end) => isAskedFor(state, end)).join();
  assertEquals(heard(new Agent({ isAlone: true }).leave().changed()), "closed");
  assertEquals([heard(saying()), heard(new Agent().leave()), heard(new Agent())], [
    "left,closed",
    "",
    "",
  ]);
});

Deno.test("leaving: the relay has forgotten us, or refuses", () => {
  assertEquals([saying().refused("not_found").at, new Agent().leave().changed("not_found").at], [
    "ended",
    "ended",
  ]);
  assertEquals(saying().refused("not_found", true).ended, ["not_found"]);
  assertEquals(new Agent().leave().changed("not_found", true).ended, ["not_found"]);
  assertEquals([saying().refused("overloaded").at, saying().refused("connection_error").ended], [
    "staying",
    ["connection_error"],
  ]);
  const late = saying();
  const call = late.going?.at === "saying" ? late.going.call : 0;
  late.refused("overloaded");
  assertEquals(
    late.step({ type: "done", call }).at,
    "staying",
    "an end whose number no state holds",
  );
});

Deno.test("leaving: one that was let in again says it of its new leaf, twice by name and then without", () => {
  const agent = saying().refused("state_conflict");
  assertEquals([agent.at, agent.stage], ["let_in_again", "leaving"]);
  assertEquals(agent.step({ type: "entered" }).at, "settling");
  agent.changed().changed().refused("state_conflict");
  assertEquals(agent.time().changed().changed().going, {
    at: "saying",
    call: agent.state.numbers,
    isNamed: false,
  });
  assertEquals(agent.refused("state_conflict").ended, ["state_conflict"]);
  const waits = (facts: Partial<DepartureFacts>): unknown => {
    const { effects } = saying().know(facts).refused("state_conflict");
    return effects.at(-1);
  };
  assertEquals(waits({}), { type: "wake", timer: 4, afterMs: 1000 });
  assertEquals(waits(away), { type: "wake", timer: 4, afterMs: 15_000 });
  assertEquals(saying({ mayName: false }).refused("state_conflict").ended, ["state_conflict"]);
});

Deno.test("leaving: a group that was being entered when goodbye began is left as it is then", () => {
  const blocked = new Agent(away).leave();
  const call = blocked.going?.at === "saying" ? blocked.going.call : 0;
  assertEquals(blocked.know(calm).step({ type: "entered" }).at, "settling");
  assertEquals([blocked.step({ type: "done", call }).at, blocked.stage], ["settling", "leaving"]);
});

Deno.test("leaving: when the channel is over, those that wait go with it", () => {
  assertEquals([saying().over("gone").at, saying().over("gone").word], ["ended", "gone: 1"]);
  assertEquals(new Agent().leave().leave().over("over").word, "over: 1,2");
  const said = saying();
  const call = said.going?.at === "saying" ? said.going.call : 0;
  assertEquals([said.over("over").at, said.word], ["ended", "over: 1"]);
  assertEquals(said.step({ type: "done", call }).word, "over: 1", "a late answer says nothing");
  assertEquals(
    said.over("gone").leave().word,
    "over: 1 over: 2",
    "it is over once, and those behind are told the same",
  );
  assertEquals([new Agent().over("gone").at, new Agent().over("gone").word], ["ended", "gone: "]);
});
