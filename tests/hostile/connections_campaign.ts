/**
 * More connections than the process may have places, held by clients that never finish a request.
 */
import { assertEquals, assertLess } from "@std/assert";
import { createCertificate } from "../support/mod.ts";
import { assertPrompt, assertRecovered, assertServed, siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import { addressOf, createNewcomers } from "../support/hostile/newcomers.ts";
import { anyBackend, createCall } from "../support/api/harness.ts";
import { startProcess } from "../support/api/process.ts";
import type { HolderReport } from "./attackers/connection_holder.ts";

const mostBytes = 200 * 2 ** 20;
const holder = new URL("attackers/connection_holder.ts", import.meta.url);
const halfHead = "POST /v1/accounts HTTP/1.1\r\nHost: localhost\r\nConte";
const halfBody = `${halfHead}nt-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
/**
 * Attackers fill the house at once. All of them are safe for three seconds, and then have ten for a
 * head.
 */
const beginningMs = 15_000;

interface Holders {
  readonly mode: "plain" | "TLS";
  readonly openFiles: number;
  readonly addresses: number;
  /** Of each address. */
  readonly parallel: number;
  readonly sends: string;
  readonly pauseMs: number;
}

const sieges: Readonly<Record<string, Holders>> = {
  "ten addresses, half a head": {
    mode: "plain",
    openFiles: 400,
    addresses: 10,
    parallel: 200,
    sends: halfHead,
    pauseMs: 1_000,
  },
  "ten addresses, no handshake": {
    mode: "TLS",
    openFiles: 1_000,
    addresses: 10,
    parallel: 200,
    sends: "",
    pauseMs: 1_000,
  },
  "four addresses, half a body": {
    mode: "plain",
    openFiles: 2_000,
    addresses: 4,
    parallel: 600,
    sends: halfBody,
    pauseMs: 2_000,
  },
  "a thousand addresses, half a body": {
    mode: "plain",
    openFiles: 2_000,
    addresses: 1_000,
    parallel: 3,
    sends: halfBody,
    pauseMs: 3_000,
  },
};

for (
  const [name, { mode, openFiles, addresses, parallel, sends, pauseMs }] of Object.entries(sieges)
) {
  Deno.test(`${name}: all connections of the API are held (${mode}), and newcomers log in and sign up`, async () => {
    const backend = await anyBackend.open();
    await using opened = new AsyncDisposableStack();
    opened.defer(() => backend.close());
    const { cert, key } = await createCertificate();
    const folder = backend.environment.STATIC_DATA_DIR ?? "";
    await Deno.writeTextFile(`${folder}/tls.crt`, cert);
    await Deno.writeTextFile(`${folder}/tls.key`, key);
    const tls = { STATIC_TLS_CERT: `${folder}/tls.crt`, STATIC_TLS_KEY: `${folder}/tls.key` };
    const environment = {
      ...backend.environment,
      STATIC_MAX_KEYS: "10000",
      ...mode === "TLS" ? tls : {},
    };
    await using api = await startProcess(environment, { openFiles });
    const port = Number(new URL(api.url).port);
    const url = `${mode === "TLS" ? "https" : "http"}://localhost:${port}`;
    const siege = await besiege<HolderReport>({
      name,
      pid: api.pid,
      everyMs: 50,
      honest: await createNewcomers({ url, caCerts: [cert], passwordsEvery: 10 }),
      attackers: [{
        script: holder,
        order: {
          ...{ port, parallel, sends, pauseMs },
          addresses: Array.from({ length: addresses }, (_, index) => addressOf(1, index)),
        },
      }],
      beginningMs,
      siegeMs,
    });
    assertServed(siege);
    assertPrompt(siege);
    assertLess(siege.peakBytes - siege.idleBytes, mostBytes, "the service's memory grew");
    assertRecovered(siege);
    using client = Deno.createHttpClient({ caCerts: [cert] });
    assertEquals((await createCall(url, { client })("GET", "/ready")).status, 200);
  });
}
