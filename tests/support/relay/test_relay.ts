/**
 * The relay under test: the real core on an engine in memory behind the real ports. A fault of its
 * own code fails the test.
 */
import {
  openTestRelay,
  type TestRelay as OpenRelay,
  type TestRelayOptions,
} from "../../../relay/testing/open_relay.ts";
import { createCertificate, type TestCertificate } from "../mod.ts";

export interface TestRelay extends Pick<OpenRelay, "edge" | "meter">, AsyncDisposable {
  readonly certificate: TestCertificate;
  /** Fill and cover that accounts were charged for. */
  readonly counted: { padding: number; cover: number };
}

/** The address that clients of these tests sign as dialled, independent of the ports. */
export const testOrigin = "quic://localhost:4433";
/** Not the default, so that the change of size is always part of the test. */
const cellBytes = 2048;

export async function startTestRelay(config: TestRelayOptions["config"] = {}): Promise<TestRelay> {
  const certificate = await createCertificate();
  const faults: unknown[] = [];
  const counted = { padding: 0, cover: 0 };
  const { edge, meter, close } = await openTestRelay({
    certificate,
    config: { cellBytes, origins: [testOrigin], ...config },
    onEvent: (event) => void (event.event === "fault" && faults.push(event.error)),
    allowsOrigin: (origin) => origin.startsWith("http://127.0.0.1:"),
    countBytes: (_account, { padding, cover }) => {
      counted.padding += padding;
      counted.cover += cover;
    },
  });
  return {
    edge,
    meter,
    certificate,
    counted,
    [Symbol.asyncDispose]: async () => {
      await close();
      if (faults.length > 0) throw new AggregateError(faults, "The relay reported faults");
    },
  };
}
