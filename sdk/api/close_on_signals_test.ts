// One program that is signalled four times: three times it closes an agent and goes on, the last
// time nobody listens any more.
import { assertEquals, assertStringIncludes } from "@std/assert";

const program = `
  import { ChannelManager } from "${new URL("manager.ts", import.meta.url)}";
  import { StaticClient } from "${new URL("client.ts", import.meta.url)}";
  const options = (identity) => ({
    identity, dataDir: Deno.args[0] + "/" + identity, endpoint: "quic://localhost:1", closeOnSignals: true,
  });
  const untilClosed = async (client, name) => {
    const events = client.events();
    console.log(name);
    for await (const _ of events);
  };
  await untilClosed(await StaticClient.connect(options("alice")), "client");
  await untilClosed((await ChannelManager.connect(options("bob"))).client, "manager");

  const closed = Promise.withResolvers();
  const close = () => Promise.reject(new Error("the disk is full")).finally(closed.resolve);
  const fails = StaticClient.through({ close });
  fails.heed({ closeOnSignals: true });
  console.log("client that cannot close");
  await closed.promise;

  const manager = await ChannelManager.connect(options("carol"));
  await manager.client.close();
  setInterval(() => {}, 1000);
  console.log("nobody");
`;

Deno.test("closeOnSignals closes a client and a manager, shows a failure, and is over with the client", async () => {
  const home = await Deno.makeTempDir();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", "--unstable-net", program, home],
    env: { XDG_CONFIG_HOME: home, STATIC_API_KEY: "" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  const said: string[] = [];
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    said.push(text.trim());
    child.kill("SIGINT");
  }
  assertStringIncludes(
    await errors,
    "Cannot close the client at a signal. Error: the disk is full",
  );
  assertEquals(said, ["client", "manager", "client that cannot close", "nobody"]);
  assertEquals((await child.status).signal, "SIGINT");
  await Deno.remove(home, { recursive: true });
});
