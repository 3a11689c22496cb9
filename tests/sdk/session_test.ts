// One suite of sessions with a real relay and a real API, in every runtime and over every
// transport. By default the second transport of a runtime has the tests that are about transports;
// the campaign packages has all.
import { assertEquals, assertGreater } from "@std/assert";
import { platform } from "../../sdk/platform/deno.ts";
import { createProject } from "../../tools/bundle.ts";
import { inCampaign } from "../support/campaign.ts";
import { chromium, runInChromium } from "../support/runtime/chromium.ts";
import { node, runInNode } from "../support/runtime/node.ts";
import { runTests, type RuntimeResult } from "../support/runtime/suite.ts";
import { testWhen } from "../support/mod.ts";
import { createSessionTests, type SessionTarget, testsOfTransport } from "./session_suite.ts";
import { shareStack } from "../support/shared_stack.ts";
import type { SharedStack } from "../support/stack.ts";

/** Over the second transport of a runtime: all tests in a campaign. */
const secondTransport = inCampaign ? undefined : testsOfTransport;

function assertPassed(results: readonly RuntimeResult[]): void {
  assertEquals(
    results.filter(({ outcome }) => outcome === "failed").map(({ name, text }) =>
      `${name}: ${text}`
    ),
    [],
  );
  assertGreater(results.length, 0);
}

function targetOf(
  stack: SharedStack,
  more: Pick<SessionTarget, "endpoint" | "transport" | "tls" | "expected">,
): SessionTarget {
  const { apiKey } = stack.account;
  const scheme = more.endpoint?.split(":")[0];
  const wrongTls = more.tls?.certificateHashes === undefined
    ? {}
    : { certificateHashes: ["00".repeat(32)] };
  return {
    ...more,
    apiKey,
    apiUrl: stack.api.url,
    deadEndpoint: `${scheme}://127.0.0.1:9`,
    wrongTls,
  };
}

/** The same relay by its address of IPv6. */
function atIpv6(url: string): string {
  return url.replace("localhost", "[::1]");
}

Deno.test("sessions with a real relay and a real API, in Deno", async (t) => {
  const stack = await shareStack();
  const { quicUrl, grpcUrl, caFile } = stack;
  const pinned = { certificateHashes: [await stack.certificateHash()] };
  await t.step("over QUIC", async () => {
    const target = targetOf(stack, {
      endpoint: quicUrl,
      transport: "auto",
      tls: { caFile },
      expected: "quic",
    });
    assertPassed(await runTests(createSessionTests(platform, target)));
  });
  await t.step("over QUIC, to a relay known by its certificate's hash", async () => {
    const target = targetOf(stack, {
      endpoint: quicUrl,
      transport: "quic",
      tls: pinned,
      expected: "quic",
    });
    assertPassed(await runTests(createSessionTests(platform, target).slice(0, 1)));
  });
  await t.step("over the gRPC stream Session", async () => {
    const target = targetOf(stack, {
      endpoint: grpcUrl,
      transport: "auto",
      tls: { caFile },
      expected: "grpc",
    });
    assertPassed(await runTests(createSessionTests(platform, target).slice(0, secondTransport)));
  });
  await t.step(
    "over the gRPC stream Session, to a relay known by its certificate's hash",
    async () => {
      const target = targetOf(stack, {
        endpoint: grpcUrl,
        transport: "auto",
        tls: pinned,
        expected: "grpc",
      });
      assertPassed(await runTests(createSessionTests(platform, target).slice(0, 1)));
    },
  );
  await t.step("to an address of IPv6", async () => {
    for (
      const [endpoint, expected] of [[atIpv6(quicUrl), "quic"], [atIpv6(grpcUrl), "grpc"]] as const
    ) {
      const target = targetOf(stack, { endpoint, transport: "auto", tls: { caFile }, expected });
      assertPassed(await runTests(createSessionTests(platform, target).slice(0, 1)));
    }
  });
  await t.step("to a relay that the API vouches for", async () => {
    for (const endpoint of [quicUrl, grpcUrl]) {
      const expected = endpoint === quicUrl ? "quic" : "grpc";
      const target = targetOf(stack, { endpoint, transport: "auto", expected });
      assertPassed(await runTests(createSessionTests(platform, target).slice(0, 1)));
    }
  });
});

testWhen(
  node,
  "sessions with a real relay and a real API, in Node over the gRPC stream Session",
  async () => {
    const stack = await shareStack();
    await using project = await createProject();
    const bundle = await project.bundle(new URL("session_node.ts", import.meta.url), "node");
    const tls = { caFile: stack.caFile };
    const pinned = { certificateHashes: [await stack.certificateHash()] };
    const { grpcUrl, quicUrl } = stack;
    const targets = [
      targetOf(stack, { endpoint: grpcUrl, transport: "auto", tls, expected: "grpc" }),
      {
        ...targetOf(stack, { endpoint: grpcUrl, transport: "auto", tls: pinned, expected: "grpc" }),
        count: 1,
      },
      {
        ...targetOf(stack, { endpoint: atIpv6(grpcUrl), transport: "auto", tls, expected: "grpc" }),
        count: 1,
      },
      // The API vouches for the relay, and also says where the TCP port of a QUIC address is.
      { ...targetOf(stack, { endpoint: quicUrl, transport: "auto", expected: "grpc" }), count: 1 },
    ];
    assertPassed(JSON.parse(await runInNode(bundle, JSON.stringify(targets))));
  },
);

testWhen(chromium, "sessions with a real relay and a real API, in Chromium", async () => {
  const stack = await shareStack();
  await using project = await createProject();
  const bundle = await project.bundle(new URL("session_browser.ts", import.meta.url), "browser");
  const { quicUrl, grpcUrl } = stack;
  const endpoint = `${quicUrl},${grpcUrl}`;
  const pinned = { certificateHashes: [await stack.certificateHash()] };
  const targets = [
    targetOf(stack, {
      endpoint: quicUrl,
      transport: "auto",
      tls: pinned,
      expected: "webtransport",
    }),
    {
      ...targetOf(stack, {
        endpoint: atIpv6(quicUrl),
        transport: "auto",
        tls: pinned,
        expected: "webtransport",
      }),
      count: 1,
    },
    // The API tells the hash.
    {
      ...targetOf(stack, { endpoint: quicUrl, transport: "auto", expected: "webtransport" }),
      count: 1,
    },
    // Without WebTransport, and with certificates that the browser was told to ignore: cells are
    // what is left.
    {
      ...targetOf(stack, { endpoint, transport: "auto", tls: {}, expected: "cells" }),
      wrongTls: undefined,
      count: secondTransport,
    },
  ];
  const code = `globalThis.sessionTargets = ${JSON.stringify(targets)};\n${await Deno.readTextFile(
    bundle,
  )}`;
  await Deno.writeTextFile(bundle, code);
  assertPassed(JSON.parse(await runInChromium(bundle, "--ignore-certificate-errors")));
});
