import { assertEquals } from "@std/assert";
import { parseAgentId, parseBinaryId } from "../../proto/mod.ts";
import { type ShownMessage, viewOf } from "./message_view.ts";

function said(text: string): ShownMessage {
  const sender = {
    agentId: parseAgentId("a".repeat(22)),
    identity: "mallory",
    keyUnchanged: true,
    knownAs: undefined,
  };
  const bytes = new TextEncoder().encode(text);
  const none = {
    contentType: undefined,
    to: undefined,
    replyTo: undefined,
    conversation: undefined,
    receipt: undefined,
  };
  return { id: parseBinaryId("A".repeat(22)), sender, timeMs: 0, bytes, ...none };
}

Deno.test("of a long message of signs that are not seen, no more is looked at than a model is shown", () => {
  const look = (text: string): unknown =>
    viewOf("a/b/c", said(text), { maxLength: 10, hideNames: false });
  const parts = (text: string): unknown[] => {
    const view = Object(look(text));
    return [view.text, view.cut_from_characters, view.invisible_characters_escaped];
  };
  assertEquals(parts("\0".repeat(1000)), ["\\u{0}\\u{0}", 1000, 20]);
  assertEquals(parts("\r\n".repeat(10)), ["\n".repeat(10), undefined, undefined]);
  assertEquals(parts("x".repeat(11)), ["x".repeat(10), 11, undefined]);
});
