/**
 * A founding against a commit that this agent has followed is told, with the founder's own word
 * about it if there is one.
 */
import { assertEquals } from "@std/assert";
import { type AgentId, parseAgentId } from "../../../proto/mod.ts";
import type { DeliveredFounding } from "./following.ts";
import { hasFollowed, type OwnPast, unjustRecovery } from "./unjust_recovery.ts";

const agent = (letter: string): AgentId => parseAgentId(`${letter.repeat(21)}A`);
const [founder, blamed, self, third] = [agent("F"), agent("M"), agent("S"), agent("T")];
const bytes = (value: number): Uint8Array => new Uint8Array(32).fill(value);

type Entry = Pick<DeliveredFounding, "founding" | "proof" | "sender">;

function entryOf(added: AgentId[] = []): Entry {
  const signature = new Uint8Array(64);
  const identity = Uint8Array.of(1);
  const founding = {
    generation: 3,
    baseEpoch: 8,
    transcriptHash: bytes(1),
    badCommit: bytes(2),
    blamed,
    signatureKey: bytes(3),
    identity,
    members: [founder, self],
    without: [third],
    owners: [founder],
    suite: 3,
    state: bytes(4),
    signature,
  };
  const proof = {
    signatureKey: bytes(5),
    identity,
    added,
    removed: [],
    state: bytes(6),
    nextState: bytes(7),
    signature,
  };
  return { founding, proof, sender: founder };
}

function past(change: Partial<OwnPast> = {}): OwnPast {
  const stateAt = (epoch: number): Uint8Array | undefined => epoch === 9 ? bytes(7) : bytes(9);
  return { self, stateAt, commitHash: bytes(2), confirmed: undefined, ...change };
}

Deno.test("a commit was followed if our own state behind it is the declared one, and our commit the named one", () => {
  assertEquals(hasFollowed(entryOf(), past()), true);
  assertEquals(hasFollowed(entryOf(), past({ commitHash: undefined })), true, "it is forgotten");
  assertEquals(
    hasFollowed(entryOf(), past({ commitHash: bytes(8) })),
    false,
    "a twin with the same state",
  );
  assertEquals(hasFollowed(entryOf(), past({ stateAt: () => bytes(8) })), false);
  assertEquals(hasFollowed(entryOf(), past({ stateAt: () => undefined })), false);
  assertEquals(hasFollowed(entryOf([third, self]), past()), false, "the commit let us in");
});

Deno.test("a founder's silence decides nothing, and a later epoch is a fact that does not decide", () => {
  const silent = unjustRecovery(entryOf(), past());
  assertEquals([silent?.includes("Either"), silent?.includes("signed since")], [true, false]);
  assertEquals(silent?.includes(`Out: ${blamed}, ${third}.`), true, silent);
  assertEquals(unjustRecovery(entryOf(), past({ confirmed: 8 })), silent, "of the base itself");
  const later = unjustRecovery(entryOf(), past({ confirmed: 11 }));
  assertEquals([later?.includes("in epoch 11"), later?.includes("did wrong.")], [true, false]);
});

Deno.test("a founder that signed the very epoch that the commit began could follow it, unless that let it in", () => {
  const decided = unjustRecovery(entryOf(), past({ confirmed: 9 }));
  assertEquals([decided?.includes("in epoch 9"), decided?.includes(`${founder} did wrong.`)], [
    true,
    true,
  ]);
  const added = unjustRecovery(entryOf([founder]), past({ confirmed: 9 }));
  assertEquals([added?.includes("in epoch 9"), added?.includes("did wrong.")], [true, false]);
});

Deno.test("nothing is said by the founder about itself, nor by those that could not follow", () => {
  assertEquals(unjustRecovery(entryOf(), past({ self: founder })), undefined);
  assertEquals(unjustRecovery(entryOf(), past({ stateAt: () => undefined })), undefined);
});
