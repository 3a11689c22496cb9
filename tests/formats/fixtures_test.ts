/** This version opens the data of earlier versions, and everything goes on where it was left. */
import { assert, assertEquals } from "@std/assert";
import { migrations } from "../../relay/engine/mod.ts";
import { storeMigrations } from "../../sdk/testing/agents.ts";
import { fixtures } from "./fixture.ts";
import { goOn } from "./going_on.ts";
import { OpenedFixture } from "./opened_fixture.ts";

const all = await fixtures();

Deno.test("every format has a fixture, the newest included", () => {
  const has = (what: "relayFormat" | "storeFormat", newest: number): void => {
    for (let format = 1; format <= newest; format++) {
      assert(
        all.some((fixture) => fixture[what] === format),
        `${what} ${format} has no fixture: run tests/formats/make_fixture.ts`,
      );
    }
  };
  has("relayFormat", migrations.length);
  has("storeFormat", 1 + storeMigrations.length);
});

for (const { name, path, relayFormat } of all) {
  Deno.test(`${name}: its relay and its agents are opened, and go on where they were`, async () => {
    await using opened = await OpenedFixture.unpack(path);
    await opened.start();
    const isOlder = relayFormat < migrations.length;
    assertEquals(opened.migrated.map(({ from }) => from), isOlder ? [relayFormat] : []);
    await goOn(opened, relayFormat);
  });
}
