import { assertEquals } from "@std/assert";
import { isSocketError } from "./socket_errors.ts";

Deno.test("isSocketError() knows errors of sockets by the system's code, and takes no other for one", () => {
  const error = (code: unknown, syscall?: string): Error =>
    Object.assign(new Error("it failed"), { code, syscall });
  for (const code of ["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENOTCONN"]) {
    assertEquals(isSocketError(error(code)), true, code);
  }
  assertEquals(isSocketError(error("EBADF", "shutdown")), true);
  for (
    const other of [
      error("EBADF", "read"),
      error("ENOSPC", "write"),
      error("ENOENT"),
      error(undefined),
    ]
  ) {
    assertEquals(isSocketError(other), false, String(Reflect.get(other, "code")));
  }
  for (
    const other of [
      new TypeError("x is not a function"),
      "ECONNRESET",
      { code: "ECONNRESET" },
      undefined,
    ]
  ) {
    assertEquals(isSocketError(other), false, String(other));
  }
  assertEquals(isSocketError(new Error("Cannot read", { cause: error("ECONNRESET") })), true);
});

Deno.test("isSocketError() knows the runtime's own errors of connections, which may have no code", () => {
  const { BrokenPipe, ConnectionAborted, ConnectionReset, Http, NotConnected } = Deno.errors;
  for (const Kind of [BrokenPipe, ConnectionAborted, ConnectionReset, Http, NotConnected]) {
    assertEquals(isSocketError(new Kind("it failed")), true, Kind.name);
  }
  for (const Kind of [Deno.errors.NotFound, Deno.errors.BadResource]) {
    assertEquals(isSocketError(new Kind("it failed")), false, Kind.name);
  }
});
