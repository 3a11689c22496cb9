// Readers that stand still, over the real inbox.
import { assertEquals } from "@std/assert";
import { parseAgentId } from "../../../proto/mod.ts";
import { createInbox, item } from "../../channel/testing/inbox.ts";
import type { Envelope } from "../../content/envelope.ts";
import { ReaderLag } from "./reader_lag.ts";

Deno.test("a reader that stands still leaves room in a full inbox, whatever its messages weigh", async () => {
  for (const bytes of [1, 60_000, 1024 * 1024]) {
    const { inbox } = createInbox();
    for (let sequence = 0; !inbox.isFull; sequence++) {
      const { incoming, ...rest } = item(sequence);
      // The limit of one sender's messages does not help.
      const sender = parseAgentId(String(sequence).padStart(22, "a"));
      // It weighs more than its content: a sender has left out keys before it.
      inbox.push({ ...rest, bytes, incoming: { ...incoming, sender } });
    }
    const [reader, lag] = [
      inbox.read({ ack: "manual" }),
      new ReaderLag<{ readonly envelope: Envelope }>(),
    ];
    let next = (await reader.next()).value;
    for (; next !== undefined; next = reader.poll?.()) lag.add({ envelope: next }, 0);
    assertEquals([inbox.isFull, inbox.hasRoom], [true, false]);
    for (const { envelope } of lag.giveUp(0)) await envelope.ack();
    assertEquals([inbox.isFull, inbox.hasRoom], [false, true], `${bytes} bytes`);
  }
});
