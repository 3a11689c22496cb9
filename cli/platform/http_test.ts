import { assertEquals } from "@std/assert";

const program = `
  import { inspectCertificate } from "${new URL("http.ts", import.meta.url)}";
  const place = { host: "relay.example", port: 443 };
  console.log(await inspectCertificate(place, [], 50).catch(({ name }) => name));
`;

// In a process of its own, because the proxy of the environment is everyone's.
Deno.test("inspectCertificate() gives up on a proxy that never answers", async () => {
  // The system takes its connections, and nobody reads them.
  using proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", program],
    env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.addr.port}`, ALL_PROXY: "", NO_PROXY: "" },
    stderr: "inherit",
  }).output();
  assertEquals(new TextDecoder().decode(stdout).trim(), "TimeoutError");
});
