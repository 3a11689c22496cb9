import { assertEquals } from "@std/assert";
import { agentIdOf, type MessageId } from "../../proto/mod.ts";
import { answerToFailure, ToldElsewhere } from "./handler_failure.ts";
import { IncomingRequest } from "./incoming_request.ts";

Deno.test("a failure that another process has shown, or that is the end of the request's time, is not shown", () => {
  const over = new AbortController();
  const request = new IncomingRequest({
    kind: "request",
    lane: "request",
    id: "A".repeat(22) as MessageId, // cast: any id will do
    sender: agentIdOf(new Uint8Array(32), new Uint8Array(1)),
    identity: new Uint8Array(1),
    keyUnchanged: true,
    knownAs: undefined,
    timeMs: 0,
    sequence: 1,
    fields: {},
    body: new Uint8Array(0),
  }, { attempt: 1, signal: over.signal });
  over.abort();
  const shown: string[] = [];
  const show = (text: string): void => void shown.push(text);
  for (const thrown of [new ToldElsewhere("there"), over.signal.reason, new Error("a mistake"), "a text"]) {
    assertEquals(answerToFailure(thrown, request, { show }), undefined);
  }
  assertEquals(shown.length, 2);
});
