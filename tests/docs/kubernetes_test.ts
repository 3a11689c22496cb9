// The manifests of deploy/kubernetes: their schemas, what they promise, and the parts in the
// environment that they have.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readConfig as readApiConfig } from "../../api/config.ts";
import { type Manifest, manifestsFor } from "../../deploy/kubernetes/manifests.ts";
import { readValues } from "../../deploy/kubernetes/values.ts";
import { writeYaml } from "../../deploy/kubernetes/yaml.ts";
import { faultsOfNames } from "../../proto/base/variables.ts";
import { readConfig as readRelayConfig } from "../../relay/config.ts";
import { tracesVariable } from "../../server/mod.ts";
import { npmProjectFlags, runNpmScript } from "../../tools/npm.ts";
import { inCampaign } from "../support/campaign.ts";
import { createCertificate, runCommand } from "../support/mod.ts";

const repository = new URL("../../", import.meta.url);
const sample = await Deno.readTextFile(new URL("deploy/kubernetes.env", repository));
// deno-lint-ignore no-explicit-any
type Loose = any; // Manifests as they are read: tests assert on what they expect of them.

async function check(yaml: string): Promise<{ faults: string[]; manifests: Loose[] }> {
  const output = await runNpmScript("validate_kubernetes.ts", {
    input: new TextEncoder().encode(yaml),
  });
  return JSON.parse(new TextDecoder().decode(output));
}

const { faults, manifests } = await check(
  await runCommand(Deno.execPath(), [
    "task",
    "--quiet",
    "deploy:kubernetes",
    "deploy/kubernetes.env",
  ], { cwd: repository.pathname }),
);
const workloads = manifests.filter(({ kind }) => ["Deployment", "StatefulSet"].includes(kind));
const pods: Loose[] = workloads.map(({ spec }) => spec.template.spec);

Deno.test("the task prints manifests that keep their kinds' schemas, and a wrong one does not", async () => {
  assertEquals(faults, []);
  const values = readValues(sample);
  assertEquals(manifests, [...manifestsFor(values)]);
  const small = { ...values, storageClass: "fast", hasDatabaseCa: true };
  assertEquals((await check(writeYaml(manifestsFor(small)))).faults, []);
  const tracesUrl = "http://otel.monitoring:4318/v1/traces";
  const traced = await check(writeYaml(manifestsFor({ ...values, tracesUrl })));
  assertEquals([traced.faults, tracesOf(traced.manifests)], [[], [tracesUrl, tracesUrl]]);
  assertEquals(tracesOf(manifests), []);
  const wrong = writeYaml(manifestsFor(values)).replace("replicas: 1", 'replicas: "one"');
  const [fault = "", ...others] = (await check(wrong)).faults;
  assertEquals(others, []);
  assertStringIncludes(fault, "replicas");
});

/** Where each pod sends its traces. */
function tracesOf(list: readonly Loose[]): string[] {
  return list.flatMap(({ spec }) => spec.template?.spec.containers[0].env ?? [])
    .filter(({ name }) => name === tracesVariable).map(({ value }) => value);
}

/** A field that a kind does not have passes the schemas, and not the types of the same package. */
async function typeFaults(list: readonly Manifest[]): Promise<string> {
  const types = [
    'import type { IDeployment, IStatefulSet } from "kubernetes-models/apps/v1";',
    'import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";',
    'import type { IPersistentVolumeClaim, IService } from "kubernetes-models/v1";',
  ];
  const file = new URL(`tools/npm/manifests_${crypto.randomUUID()}.ts`, repository).pathname;
  const values = list.map((manifest, index) =>
    `export const _${index}: I${manifest["kind"]} = ${JSON.stringify(manifest, null, 1)};`
  );
  await Deno.writeTextFile(file, [...types, ...values].join("\n"));
  try {
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", ...npmProjectFlags, file],
      env: { NO_COLOR: "1" },
    }).output();
    return new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(file);
  }
}

if (inCampaign) {
  Deno.test("no manifest has a field that its kind does not have", async () => {
    const list = manifestsFor(readValues(sample));
    assertEquals(await typeFaults(list), "");
    const [first = {}, ...rest] = list;
    assertMatch(await typeFaults([{ ...first, specs: {} }, ...rest]), /'"specs"' does not exist/);
  });
}

Deno.test("every pod is one that an operator would sign", () => {
  assertEquals(pods.length, 2);
  for (const pod of pods) {
    assertEquals([pod.enableServiceLinks, pod.automountServiceAccountToken], [false, false]);
    assertEquals(pod.terminationGracePeriodSeconds, 20);
    const { runAsNonRoot, runAsUser, fsGroup, seccompProfile } = pod.securityContext;
    assertEquals([runAsNonRoot, runAsUser, fsGroup, seccompProfile.type], [
      true,
      1993,
      1993,
      "RuntimeDefault",
    ]);
    const [container] = pod.containers;
    assertEquals(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const { startupProbe, livenessProbe, readinessProbe, resources } = container;
    assertEquals(
      [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path),
      ["/health", "/health", "/ready"],
    );
    assert(resources.limits.memory !== undefined && resources.requests.cpu !== undefined);
    const named = container.env.filter(({ name }: Loose) => /SECRET|DATABASE_URL|SMTP/.test(name));
    assert(named.length > 0);
    for (const { value } of named) assertMatch(value, /^file:\/etc\/static\/secrets\/\w+$/);
  }
  const [api, relay] = workloads;
  assertEquals([api.spec.replicas, api.spec.strategy.type], [1, "Recreate"]);
  assertEquals([relay.kind, relay.spec.replicas], ["StatefulSet", 1]);
  const volumes = JSON.stringify(relay.spec.template.spec.volumes);
  assert(!volumes.includes("database_url"), "the relay does not know the database");
});

Deno.test("services, probes and images have the ports of the parts, and agents reach both of the relay's", async () => {
  for (const [index, part] of ["api", "relay"].entries()) {
    const text = await Deno.readTextFile(new URL(`deploy/Dockerfile.${part}`, repository));
    const [, exposed = ""] = /^EXPOSE (.+)$/m.exec(text) ?? [];
    const ports = pods[index].containers[0].ports.map((
      { containerPort, protocol = "TCP" }: Loose,
    ) => `${containerPort}/${protocol.toLowerCase()}`);
    assertEquals(ports.sort(), exposed.split(" ").sort());
    const { startupProbe } = pods[index].containers[0];
    assert(ports.includes(`${startupProbe.httpGet.port}/tcp`));
  }
  const service = manifests.find(({ kind, metadata }) =>
    kind === "Service" && metadata.name === "static-relay"
  );
  assertEquals(
    service.spec.ports.map(({ port, protocol }: Loose) => `${port}/${protocol}`),
    ["5000/TCP", "4433/UDP"],
  );
});

/** The variables of a part, its image's included, with every path below this folder. */
async function environmentOf(index: number, folder: string): Promise<Record<string, string>> {
  const part = index === 0 ? "api" : "relay";
  const image = await Deno.readTextFile(new URL(`deploy/Dockerfile.${part}`, repository));
  const ofImage = Array.from(
    image.matchAll(/(?<=^ENV .*)(STATIC_\w+)=(\S+)/gm),
    ([, name = "", value = ""]) => [name, value],
  );
  const own = pods[index].containers[0].env.map(({ name, value }: Loose) => [name, value]);
  return Object.fromEntries(
    [...ofImage, ...own].map(([name, value]) => [
      name,
      value.replace(/(?<=^|file:)\/(?=data|etc)/, `${folder}/`),
    ]),
  );
}

Deno.test("both parts take the variables and the secrets of their pods", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-kubernetes-" });
  try {
    await Deno.mkdir(`${folder}/etc/static/secrets`, { recursive: true });
    await Deno.mkdir(`${folder}/etc/static/tls`);
    const { cert, key } = await createCertificate();
    const secret = "0123456789abcdef0123456789abcdef";
    const files = {
      "tls/tls.crt": cert,
      "tls/tls.key": key,
      "secrets/database_url": "postgres://static:p%40ss@db.example.com/static?sslmode=require\n",
      "secrets/relay_secret": `${secret}\n`,
      "secrets/smtp_url": "smtps://mail.example.com\n",
    };
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/etc/static/${name}`, text);
    }
    const [ofApi, ofRelay] = [await environmentOf(0, folder), await environmentOf(1, folder)];
    for (const variables of [ofApi, ofRelay]) {
      assertEquals(faultsOfNames(Object.keys(variables)), []);
    }
    const api = readApiConfig((name) => ofApi[name]);
    assertEquals(api.database?.url.reveal(), files["secrets/database_url"].trim());
    assertEquals([api.relaySecret?.reveal(), api.badgeDomain], [secret, "api.example.com"]);
    assertEquals(api.mail.server?.reveal(), "smtps://mail.example.com");
    const relay = readRelayConfig((name) => ofRelay[name]);
    assertEquals([relay.relaySecret?.reveal(), relay.apiInternalUrl], [
      secret,
      "http://static-api-internal:9466",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** As Kubernetes sets them in every pod of the namespace, unless it is told not to. */
function serviceLinks(): Record<string, string> {
  const links: Record<string, string> = {};
  for (const { kind, metadata, spec } of manifests) {
    if (kind !== "Service" || spec.clusterIP === "None") continue;
    const name = metadata.name.toUpperCase().replaceAll("-", "_");
    const [{ port, protocol, name: portName }] = spec.ports;
    const address = `${protocol.toLowerCase()}://10.96.0.7:${port}`;
    const of = `${name}_PORT_${port}_${protocol}`;
    Object.assign(links, {
      [`${name}_SERVICE_HOST`]: "10.96.0.7",
      [`${name}_SERVICE_PORT`]: String(port),
      [`${name}_SERVICE_PORT_${portName.toUpperCase()}`]: String(port),
      [`${name}_PORT`]: address,
      [of]: address,
      [`${of}_PROTO`]: "tcp",
      [`${of}_PORT`]: String(port),
      [`${of}_ADDR`]: "10.96.0.7",
    });
  }
  return links;
}

Deno.test("a part in a pod with service links does not start, and says of each variable what to do", async () => {
  const links = serviceLinks();
  assertMatch(links["STATIC_API_PORT"] ?? "", /^tcp:/);
  for (const entry of ["api/main.ts", "relay/main.ts", "relay/proxy/main.ts"]) {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--no-prompt", "--allow-env", entry],
      cwd: repository.pathname,
      env: links,
    }).output();
    const said = new TextDecoder().decode(stderr);
    assertEquals(code, 1, said);
    for (const name of Object.keys(links)) {
      // The proxy has no use for the API's port.
      if (name === "STATIC_API_PORT" && entry.includes("proxy")) continue;
      const [line = `nothing of ${name}`] = said.split("\n").filter((line) =>
        line.includes(`- ${name} `)
      );
      assertStringIncludes(line, "enableServiceLinks: false", said);
    }
    assert(!said.includes("10.96.0.7"), "values are not repeated");
  }
});
