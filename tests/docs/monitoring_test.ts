// Dashboard and alert rules over the metrics of a real API and a real relay, by a real Prometheus.
// A campaign: it waits for several rounds of scraping.
import { assertEquals, assertGreater } from "@std/assert";
import { StaticClient } from "static-sdk";
import { eventually, freePort, installed, testWhen } from "../support/mod.ts";
import { startPrometheus } from "../support/prometheus.ts";
import { startStack } from "../support/stack.ts";

const isStress = Deno.env.get("STATIC_STRESS") === "1";
const deploy = new URL("../../deploy/", import.meta.url);

/**
 * Deno lets no program with fewer than all rights read the kernel's table, so a relay of ours does
 * not have this one.
 */
const withAllRightsOnly = "static_relay_udp_drops_total";
/** Of several relays only. A test compares the names with those that `docs/cluster.md` has. */
const ofClusters = "static_relay_cluster_";

/** Queries of the dashboard, with the panel that each is in. */
async function dashboardQueries(): Promise<
  readonly { readonly title: string; readonly query: string }[]
> {
  const { panels } = JSON.parse(await Deno.readTextFile(new URL("grafana/dashboard.json", deploy)));
  return panels.flatMap((
    { title, targets = [] }: { title: string; targets?: readonly { expr: string }[] },
  ) => targets.map(({ expr }) => ({ title, query: expr })));
}

if (isStress) {
  testWhen(
    installed("prometheus"),
    "Prometheus reads both parts, every panel has data, and every rule is healthy",
    async () => {
      const adminPort = freePort();
      await using stack = await startStack({
        relayVariables: { STATIC_ADMIN_PORT: String(adminPort) },
      });
      await using client = await StaticClient.connect({
        endpoint: `${stack.quicUrl},${stack.grpcUrl}`,
        apiUrl: stack.api.url,
        apiKey: stack.account.apiKey,
        tls: { caFile: stack.caFile },
        dataDir: `${stack.relayDir}/measured`,
        identity: "measured",
      });
      await using prometheus = await startPrometheus({
        api: new URL(stack.api.adminUrl).host,
        relays: [`127.0.0.1:${adminPort}`],
        everySeconds: 1,
      });
      const channel = await client.createChannel("acme/ops/measured");
      const answering = (): Promise<number> =>
        prometheus.query("up == 1 and count_over_time(up[1h]) > 3").then(
          ({ length }) => length,
          () => 0,
        );
      await eventually({ what: "four rounds of both parts" }, async () => {
        await channel.send("a message");
        return await answering();
      }, (parts) => parts === 2);

      const empty: string[] = [];
      const queries = await dashboardQueries();
      assertGreater(queries.length, 30);
      for (const { title, query } of queries) {
        if ([withAllRightsOnly, ofClusters].some((name) => query.includes(name))) continue;
        if ((await prometheus.query(query)).length === 0) {
          empty.push(`${title}: ${query}`);
        }
      }
      assertEquals(empty, []);

      const { groups } = await prometheus.get("rules");
      // cast: as Prometheus describes its answer
      const rules = (groups as {
        rules: { name: string; health: string; lastError?: string; state: string }[];
      }[])
        .flatMap(({ rules }) => rules);
      assertGreater(rules.length, 10);
      assertEquals(
        rules.filter(({ health }) => health === "err").map((
          { name, lastError },
        ) => [name, lastError]),
        [],
      );
      const firing = rules.filter(({ state }) => state === "firing").map(({ name }) => name);
      console.log(
        `${queries.length} queries, ${rules.length} rules, firing: ${firing.join(", ") || "none"}`,
      );
      assertEquals(firing, []);
    },
  );
}
