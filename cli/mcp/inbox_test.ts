import { assertEquals, assertRejects } from "@std/assert";
import { files } from "../platform/files.ts";
import type { GivenMessage } from "./feed.ts";
import { GivenNotes } from "./given_notes.ts";
import { Inbox, type InboxRequest, type ModelInboxParts } from "./inbox.ts";
import { SessionReceipts } from "./receipts.ts";

// cast: nothing else of it is read
const said = { id: "1", sender: { agentId: "alice" } } as GivenMessage["message"];

function createGiven(): GivenMessage & { backs: number } {
  const given = {
    channel: "acme/ops/deploy",
    message: said,
    backs: 0,
    ack: () => Promise.resolve(),
    back: () => given.backs++,
  };
  return given;
}

function createInbox(given: GivenMessage, notes: ModelInboxParts["notes"]): Inbox {
  const unused = (): never => {
    throw new Error("not in these tests");
  };
  const released = (): Promise<GivenMessage[]> => Promise.resolve([given]);
  return new Inbox({
    reader: "mcp",
    channels: unused,
    deadline: unused,
    judge: unused,
    released,
    notes,
    receipts: new SessionReceipts(),
  });
}

function questionOf(call: number, signal = new AbortController().signal): InboxRequest {
  return { call, signal, timeoutMs: 0, maxMessages: 10 };
}

Deno.test("an answer that is given up while it is noted comes again with the next question", async () => {
  const [given, over] = [createGiven(), new AbortController()];
  const give = (): Promise<Set<GivenMessage>> => {
    over.abort();
    return Promise.resolve(new Set());
  };
  const inbox = createInbox(given, { give, forget: () => Promise.resolve() });
  await assertRejects(() => inbox.wait(questionOf(1, over.signal)), DOMException, "abort");
  assertEquals(given.backs, 1);
  assertEquals((await inbox.wait(questionOf(2))).items, [given]);
});

Deno.test("a message that was given up is not called given before, also when the next question comes at once", async () => {
  const folder = await Deno.makeTempDir();
  const inbox = createInbox(createGiven(), new GivenNotes(files, folder, "mcp"));
  await inbox.wait(questionOf(1));
  inbox.givenUp(1);
  assertEquals([...(await inbox.wait(questionOf(2))).again], []);
  await Deno.remove(folder, { recursive: true });
});
