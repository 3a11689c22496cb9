/** Requests that are handed on before their turn: once, and only so many. */
import { assertEquals } from "@std/assert";
import type { IncomingEnvelope } from "../../content/incoming.ts";
import { EarlyMessages } from "./early_messages.ts";

function request(sequence: number): IncomingEnvelope {
  // cast: it is known by its id and its place
  return { id: `request ${sequence}`, sequence } as unknown as IncomingEnvelope;
}

Deno.test("requests are handed on before their turn as long as they can be remembered", () => {
  const ahead = new EarlyMessages();
  let handed = 0;
  const hand = (): void => void handed++;
  for (let sequence = 1; sequence <= 65_537; sequence++) ahead.hand(request(sequence), hand);
  assertEquals(handed, 65_536);
  assertEquals([ahead.arrived(request(1), () => {}), ahead.arrived(request(65_537), () => {})], [
    true,
    false,
  ]);
  ahead.hand(request(65_538), hand);
  assertEquals(handed, 65_537);
});
