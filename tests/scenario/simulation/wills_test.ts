import { assertEquals } from "@std/assert";
import type { AgentId } from "../../../proto/mod.ts";
import { Wills } from "./wills.ts";

const alice = "alice" as AgentId; // cast: any text names an agent here
const state = (number: number): Uint8Array => new Uint8Array([number]);

Deno.test("a wish to come back is about one place: not about that of a group in which it was granted, but about that of one that was led astray", () => {
  const wills = new Wills(() => 3);
  wills.states(alice, "comes back");
  const granted = { epoch: 3, state: state(3), nextState: state(4), added: [alice] };
  const at = wills.now();
  wills.made(granted, at);
  wills.arrived(alice, granted.epoch, at);
  // The relay took this one of the same epoch, and never logged it.
  wills.made({ epoch: 3, state: state(3), nextState: state(40), added: [] }, wills.now());
  const counts = (place: number): boolean =>
    wills.hasStated(alice, "comes back", { epoch: 4, state: state(place) });
  assertEquals([counts(4), counts(40)], [false, true]);
  // Of a group that nobody has made a commit for, the log tells.
  assertEquals(counts(50), false);
  wills.states(alice, "comes back");
  assertEquals([counts(4), counts(40), counts(50)], [true, true, true]);
});
