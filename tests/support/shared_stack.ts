/** One stack for all tests of a process that neither break it nor change its clock. */
import { type SharedStack, type Stack, startStack } from "./stack.ts";

const started: { stack?: Promise<Stack> } = {};

Deno.test.afterAll(async () => {
  await (await started.stack)?.[Symbol.asyncDispose]();
});

/** With an account of its own each time. It ends after the last test. */
export async function shareStack(): Promise<SharedStack> {
  const stack = await (started.stack ??= startStack());
  const { api, backend, quicUrl, grpcUrl, caFile, certificateHash } = stack;
  return { api, backend, quicUrl, grpcUrl, caFile, certificateHash, account: await api.signUp() };
}
