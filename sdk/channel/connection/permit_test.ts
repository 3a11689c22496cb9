/**
 * Faults of the connection that the type check excludes. Each marked line is one with which such a
 * fault could be written again; the suite `types` fails when one of them is allowed.
 */
import { assertEquals } from "@std/assert";
import type { LinkStage } from "./link_state.ts";
import type { Permit } from "./permit.ts";

type At<Name extends LinkStage["at"]> = Extract<LinkStage, { readonly at: Name }>;
type WithPermit = Extract<LinkStage, { readonly permit: Permit }>["at"];

/** Exact: neither more states nor fewer. */
type Same<One, Two> = [One] extends [Two] ? ([Two] extends [One] ? true : false) : false;

Deno.test("a permit is made by no literal, and a connection that breaks in a question leaves none to a later beginning", () => {
  const stream = { tag: 1, begun: true };
  // @ts-expect-error: `judgeConnection` alone makes one
  const forged: Permit = { number: 1 };
  // @ts-expect-error: entries are read with a permit only
  const reading: At<"reading"> = { at: "reading", stream, tries: 0, timer: undefined };
  // @ts-expect-error: a connection that is gone has no stream whose beginning could revive it
  const offline: At<"offline"> = { at: "offline", stream };
  // @ts-expect-error: nor has a doubt about the store
  const doubted: At<"doubted"> = { at: "doubted", stream };
  // @ts-expect-error: nor a pause, whose late timer begins with the first question
  const pausing: At<"pausing"> = { at: "pausing", tries: 0, timer: 1, stream };
  const settling: Omit<At<"settling">, "at"> = {
    ...{
      tries: 0,
      question: "own_commit",
      call: 1,
      answers: {},
      epoch: 1,
      place: "in_step",
      stream,
    },
    // @ts-expect-error: while the relay is asked nothing is compared yet
    permit: forged,
  };
  assertEquals([reading, offline, doubted, pausing, settling].length, 5);
});

Deno.test("a permit lies in three states alone", () => {
  const all: Same<WithPermit, "reading" | "fetching" | "fetching_later"> = true;
  assertEquals(all, true);
});
