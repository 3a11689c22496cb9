/**
 * The session in memory that other tests rest on: whenever its connection breaks, the next one is
 * opened.
 */
import { assertEquals } from "@std/assert";
import { Stage, until } from "../../support/scenario/stage.ts";

Deno.test("a connection that is lost in the moment after it was opened is opened again", async () => {
  await using stage = await Stage.open();
  const { session } = await stage.actor("alice");
  for (let turns = 0; turns < 12; turns++) {
    let [isLost, left] = [false, turns];
    const lose = (): void => {
      if (left-- > 0) return queueMicrotask(lose);
      isLost = true;
      session.disconnect();
      void session.connect();
    };
    const forget = session.onState(({ kind }) =>
      kind === "online" && !isLost && queueMicrotask(lose)
    );
    session.disconnect();
    void session.connect();
    await until(
      `it is back after ${turns} turns`,
      () => isLost && session.state.kind === "online",
      5_000,
    );
    forget();
  }
  assertEquals(session.state.kind, "online");
});
