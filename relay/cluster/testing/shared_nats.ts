/** One NATS node for all tests of a process that leave it alive. Each has names of its own at it: `freshPrefix()`. */
import { natsInstalled, startNats, type TestNats } from "../../../tests/support/nats.ts";

const shared: TestNats | undefined = natsInstalled.met ? await startNats({ nodes: 1 }) : undefined;
Deno.test.afterAll(async () => await shared?.[Symbol.asyncDispose]());

/** The node's address; none on a machine without the program, where tests of it are skipped. */
export const sharedUrls: readonly string[] = shared?.urls ?? [];
