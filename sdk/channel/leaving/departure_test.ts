/** The table of docs/channel_machine.md, row by row. Orders of events are tried in tests/small_worlds. */
import { assertEquals } from "@std/assert";
import { calmPermit } from "../testing/calm_agent.ts";
import { stepDeparture } from "./departure.ts";
import {
  type DepartureEffect,
  type DepartureEvent,
  type DepartureFacts,
  type Going,
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

  get going(): Going | undefined {
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
    return this.step({ type: "leave", operation: ++this.#operations, successor });
  }

  changed(code?: string): this {
    const { going } = this;
    const why = code === undefined ? undefined : { code };
    return going !== undefined && "change" in going ? this.step({ type: "changed", change: going.change, why }) : this;
  }

  get #call(): number {
    return this.going !== undefined && "call" in this.going ? this.going.call : 0;
  }

  done(): this {
    return this.step({ type: "done", call: this.#call });
  }

  refused(code: string, isHidden = false): this {
    return this.step({ type: "refused", call: this.#call, why: { code }, isHidden });
  }

  time(): this {
    const { going } = this;
    return this.step({ type: "time", timer: going !== undefined && "timer" in going ? going.timer : 0 });
  }

  over(isErased: boolean): this {
    return this.step({ type: "over", isErased });
  }

  get found(): string {
    return this.effects.flatMap((effect) => effect.type === "finding" ? [effect.finding.is] : []).join(" ");
  }

  get ended(): string[] {
    return this.effects.flatMap((effect) => {
      if (effect.type !== "settle") return [];
      return [effect.result.is === "failed" ? effect.result.why : effect.result.why.code];
    });
  }
}

const saying = (facts?: Partial<DepartureFacts>): Agent => new Agent(facts).leave().changed().changed();

Deno.test("leaving: what is open is settled, a successor is made, and the relay is told", () => {
  const agent = new Agent().leave();
  assertEquals([agent.at, stageOf(agent.state)], ["settling", "leaving"]);
  assertEquals(agent.changed().at, "handing_on");
  assertEquals([agent.changed().at, stageOf(agent.state)], ["saying", "goodbye"]);
  assertEquals([agent.done().at, agent.found], ["gone", "rests halts gone"]);
  assertEquals(agent.leave().effects.at(-1), { type: "finding", finding: { is: "gone", operations: [2] } });
});

Deno.test("leaving: others wait with the first call, unless they name another successor", () => {
  const agent = new Agent().leave("bob").leave().leave("bob").leave("carol");
  assertEquals(agent.ended, ["leaving"]);
  assertEquals(agent.changed("overloaded").ended, ["leaving", "overloaded", "overloaded", "overloaded"]);
  assertEquals([agent.at, agent.found], ["staying", "rests stays"]);
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
  assertEquals(new Agent({ ...away, isOnWayBack: false, isLastOwner: true }).leave().at, "saying", "stopped");
});

Deno.test("leaving: the log is asked for a founding of ours first", () => {
  const asking = (): Agent => new Agent({ hasFounding: true }).leave();
  assertEquals([asking().at, asking().found], ["founding", "rests settles_founding"]);
  assertEquals(asking().step({ type: "founding", why: undefined }).at, "settling");
  assertEquals(asking().step({ type: "entered" }).at, "settling");
  assertEquals(asking().time().at, "settling");
  assertEquals(asking().step({ type: "founding", why: { code: "overloaded" } }).ended, ["overloaded"]);
});

Deno.test("leaving: one that is alone closes the channel, if it may, and nobody waits to be let in", () => {
  const alone = { isAlone: true };
  const closing = (facts: Partial<DepartureFacts> = {}): Agent => new Agent({ ...alone, ...facts }).leave().changed();
  assertEquals([closing().at, closing().done().at], ["closing", "gone"]);
  assertEquals(closing().refused("not_allowed").at, "handing_on");
  assertEquals(closing().refused("overloaded").ended, ["overloaded"]);
  assertEquals(closing({ isAnyAbsent: true }).ended, ["absent"]);
  assertEquals(closing({ isAnyAbsent: true, isOwner: false }).at, "handing_on");
  assertEquals([closing({ isAllRead: false }).at, closing({ work: undefined }).at], ["handing_on", "handing_on"]);
});

Deno.test("leaving: the relay has forgotten us, or refuses", () => {
  assertEquals(saying().refused("not_found").at, "gone");
  assertEquals(saying().refused("not_found", true).ended, ["not_found"]);
  assertEquals([saying().refused("overloaded").at, saying().refused("connection_error").ended], [
    "staying",
    ["connection_error"],
  ]);
  const late = saying();
  const call = late.going?.at === "saying" ? late.going.call : 0;
  late.refused("overloaded");
  assertEquals(late.step({ type: "done", call }).at, "staying", "an end whose number no state holds");
});

Deno.test("leaving: one that was let in again says it of its new leaf, twice by name and then without", () => {
  const agent = saying().refused("state_conflict");
  assertEquals([agent.at, agent.found], ["let_in_again", "rests halts resumes"]);
  assertEquals(agent.step({ type: "entered" }).at, "settling");
  agent.changed().changed().refused("state_conflict");
  assertEquals(agent.time().changed().changed().going, { at: "saying", call: agent.state.numbers, isNamed: false });
  assertEquals(agent.refused("state_conflict").ended, ["state_conflict"]);
  const waits = (facts: Partial<DepartureFacts>): unknown => {
    const { effects } = saying().know(facts).refused("state_conflict");
    return effects.at(-1);
  };
  assertEquals(waits({}), { type: "wake", timer: 4, afterMs: 1000 });
  assertEquals(waits(away), { type: "wake", timer: 4, afterMs: 15_000 });
  assertEquals(saying({ mayName: false }).refused("state_conflict").ended, ["state_conflict"]);
});

Deno.test("leaving: when the channel is over, those that wait go with it", () => {
  assertEquals([saying().over(true).at, saying().over(true).found], ["gone", "rests halts gone"]);
  assertEquals(new Agent().leave().over(false).found, "rests over");
  const said = saying();
  const call = said.going?.at === "saying" ? said.going.call : 0;
  assertEquals([said.over(false).at, said.found], ["gone", "rests halts over"]);
  assertEquals(said.step({ type: "done", call }).found, "rests halts over", "a late answer says nothing");
  assertEquals(new Agent().over(true).at, "staying");
});
