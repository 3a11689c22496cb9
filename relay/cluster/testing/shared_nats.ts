/**
 * One NATS node for all tests of a process that leave it alive. Each has names of its own at it:
 * `freshPrefix()`. It is plain: what these tests are about happens above the connection, and tests
 * that do harm to nodes have TLS and keys (`startNats`).
 */
import { natsInstalled, startNats, type TestNats } from "../../../tests/support/nats.ts";

const shared: TestNats | undefined = natsInstalled.met
  ? await startNats({ nodes: 1, plain: true })
  : undefined;
Deno.test.afterAll(async () => await shared?.[Symbol.asyncDispose]());

/** The node's address; none on a machine without the program, where tests of it are skipped. */
export const sharedUrls: readonly string[] = shared?.access.urls ?? [];
