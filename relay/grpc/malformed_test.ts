import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import { assert, assertEquals } from "@std/assert";
import { ErrorDetailSchema, Relay } from "../../proto/wire/grpc.ts";
import { toConnectError } from "./errors.ts";
import { noteMessage } from "./malformed.ts";

type Passed = Parameters<ReturnType<typeof noteMessage>>[0];

/**
 * Returns the error that a call with a stream of answers meets when its request cannot be read
 * because of `error`.
 */
async function met(error: unknown): Promise<unknown> {
  // deno-lint-ignore require-yield
  async function* message(): AsyncGenerator<never> {
    await Promise.reject(error);
  }
  const call = noteMessage(async ({ message }) => {
    await Array.fromAsync(message as AsyncIterable<unknown>); // cast: the request is a stream
    throw new Error("It was read");
  });
  const request = {
    stream: true,
    method: Relay.method.deliver,
    message: message(),
    contextValues: createContextValues(),
  };
  // cast: the part that is used
  return await call(request as unknown as Passed).then(() => undefined, (met) => met);
}

Deno.test("an error of Connect about bytes is the caller's invalid_request; every other one stays as it is", async () => {
  for (const code of [Code.Internal, Code.InvalidArgument]) {
    const error = await met(new ConnectError("parse binary", code));
    assertEquals(
      error instanceof ConnectError && error.findDetails(ErrorDetailSchema)[0]?.code,
      "invalid_request",
    );
  }
  const others = [Code.ResourceExhausted, Code.DeadlineExceeded, Code.Canceled, Code.Unavailable];
  const own = toConnectError({ code: "internal", message: "of the contract" });
  for (
    const error of [
      ...others.map((code) => new ConnectError("other", code)),
      own,
      new Error("reset"),
    ]
  ) {
    assert(await met(error) === error, String(error));
  }
});
