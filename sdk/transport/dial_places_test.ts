import { assertEquals } from "@std/assert";
import { DialPlaces } from "./dial_places.ts";

/** Settles what is ready. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;

Deno.test("only so many attempts have begun, the next is the one that waits longest, and relays have places of their own", async () => {
  const places = new DialPlaces(2);
  const begun: string[] = [];
  const begin = async (name: string, relay = "quic://a"): Promise<(() => void) | undefined> => {
    const giveBack = await places.take(relay, never);
    begun.push(name);
    return giveBack;
  };
  const [first, second] = [begin("1"), begin("2")];
  const [third, fourth] = [begin("3"), begin("4")];
  const other = begin("other", "quic://b");
  await settle();
  assertEquals(begun, ["1", "2", "other"]);
  (await second)?.();
  await settle();
  assertEquals(begun, ["1", "2", "other", "3"]);
  for (const done of [first, third]) (await done)?.();
  await settle();
  assertEquals(begun, ["1", "2", "other", "3", "4"]);
  for (const done of [fourth, other]) (await done)?.();
  const again = await Promise.all([begin("5"), begin("6")]);
  assertEquals(again.every((giveBack) => giveBack !== undefined), true);
});

Deno.test("who stops waiting gets no place and holds none", async () => {
  const places = new DialPlaces(1);
  const stop = new AbortController();
  const giveBack = await places.take("quic://a", never);
  const impatient = places.take("quic://a", stop.signal);
  const patient = places.take("quic://a", never);
  stop.abort();
  assertEquals(await impatient, undefined);
  assertEquals(await places.take("quic://a", stop.signal), undefined);
  giveBack?.();
  assertEquals(typeof await patient, "function");
});
