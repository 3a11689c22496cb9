import { assertEquals } from "@std/assert";
import { watchCode } from "./code_watch.ts";

Deno.test("watchCode() names the parts whose code changed, once for changes that come together, and not for tests", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static wätch, " });
  const root = new URL(`file://${folder}/`);
  for (const name of ["api", "relay", "proto"]) await Deno.mkdir(new URL(name, root));
  const told: (readonly string[])[] = [];
  let next = Promise.withResolvers<void>();
  {
    using _watch = watchCode({
      root,
      folders: { api: ["api/", "proto/"], relay: ["relay/", "proto/"] },
      onChange: (parts) => {
        told.push(parts);
        next.resolve();
      },
    });
    await Deno.writeTextFile(new URL("api/a_test.ts", root), "1");
    await Deno.writeTextFile(new URL("relay/a.ts", root), "1");
    await Deno.writeTextFile(new URL("relay/b.ts", root), "1");
    await next.promise;
    next = Promise.withResolvers();
    await Deno.writeTextFile(new URL("proto/a.ts", root), "1");
    await next.promise;
  }
  assertEquals(told, [["relay"], ["api", "relay"]]);
  await Deno.remove(folder, { recursive: true });
});
