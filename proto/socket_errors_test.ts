import { assertEquals } from "@std/assert";
import { isSocketError } from "./socket_errors.ts";

Deno.test("isSocketError() knows errors of sockets by the system's code, and takes no other for one", () => {
  const error = (code: unknown, syscall?: string): Error => Object.assign(new Error("it failed"), { code, syscall });
  for (const code of ["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENOTCONN"]) {
    assertEquals(isSocketError(error(code)), true, code);
  }
  assertEquals(isSocketError(error("EBADF", "shutdown")), true);
  for (const other of [error("EBADF", "read"), error("ENOSPC", "write"), error("ENOENT"), error(undefined)]) {
    assertEquals(isSocketError(other), false, String(Reflect.get(other, "code")));
  }
  for (const other of [new TypeError("x is not a function"), "ECONNRESET", { code: "ECONNRESET" }, undefined]) {
    assertEquals(isSocketError(other), false, String(other));
  }
});
