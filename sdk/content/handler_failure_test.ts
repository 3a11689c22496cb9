import { assertEquals, assertStringIncludes } from "@std/assert";
import { agentIdOf, type MessageId } from "../../proto/mod.ts";
import { encodeError } from "../host/wire_errors.ts";
import { answerToFailure, RemoteHandlerFailure } from "./handler_failure.ts";
import { IncomingRequest } from "./incoming_request.ts";

function createRequest(signal: AbortSignal): IncomingRequest {
  return new IncomingRequest({
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
  }, { attempt: 1, signal });
}

Deno.test("a failure that another process has shown, or that is the end of the request's time, is not shown", () => {
  const over = new AbortController();
  const request = createRequest(over.signal);
  over.abort();
  const shown: string[] = [];
  const show = (text: string): void => void shown.push(text);
  for (
    const thrown of [
      new RemoteHandlerFailure("there"),
      over.signal.reason,
      new Error("a mistake"),
      "a text",
    ]
  ) {
    assertEquals(answerToFailure(thrown, request, { show }), undefined);
  }
  assertEquals(shown.length, 2);
});

Deno.test("whatever a handler throws, and whatever the console does, its failure is told in some words and throws nothing", () => {
  const throwing = {
    get: (): never => {
      throw new Error("not to be read");
    },
  };
  const request = createRequest(new AbortController().signal);
  for (
    const [thrown, words] of [
      [Object.create(null), "a value that has no text"],
      [Object.defineProperty(new Error("one"), "stack", throwing), "one"],
      [Object.defineProperty(new Error("two"), "message", throwing), "a value that has no text"],
      [Object.defineProperty(new Error("three"), "message", { value: /three/ }), "/three/"],
      [Object.defineProperty(new Error("four"), "stack", { value: 4 }), "four"],
      [new Error("five", { cause: Object.create(null) }), "Caused by: a value that has no text"],
    ]
  ) {
    const shown: string[] = [];
    assertEquals(
      answerToFailure(thrown, request, { show: (text) => void shown.push(text) }),
      undefined,
    );
    assertStringIncludes(shown.join(), words);
    assertEquals(encodeError(thrown)["code"], "internal");
  }
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  assertEquals(answerToFailure(proxy, request, { show: () => {} }), undefined);
  assertEquals(answerToFailure(new Error("six"), request, { show: throwing.get }), undefined);
});

Deno.test("further lines of a failure are indented, so that a requester's words cannot pass for another failure", () => {
  const shown: string[] = [];
  const request = createRequest(new AbortController().signal);
  answerToFailure("bad\nThe handler of request", request, {
    show: (text) => void shown.push(text),
  });
  assertEquals(shown.join().split("\n").slice(1), ["  The handler of request"]);
});
