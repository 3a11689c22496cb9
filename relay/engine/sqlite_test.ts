import { openSqliteEngine } from "./sqlite.ts";
import { testEngine } from "./testing/test_engine.ts";

testEngine("memory", async () => ({
  engine: await openSqliteEngine({ path: ":memory:" }),
  dispose: () => Promise.resolve(),
}));

testEngine("file", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-engine-" });
  // A short log, so that it is copied back many times.
  const engine = await openSqliteEngine({ path: `${folder}/engine.sqlite`, checkpointPages: 50 });
  return { engine, dispose: () => Deno.remove(folder, { recursive: true }) };
});
