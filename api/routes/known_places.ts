/**
 * The token of a known place: programs get it in a header, and browsers in the cookie that no
 * script reads, and there only.
 */
import { deviceLifetimeMs } from "../domain/devices.ts";
import type { Secret } from "../../server/mod.ts";
import type { ApiContext, RouteDeps } from "./context.ts";
import { giveCookie, readCookie } from "./cookies.ts";

export const deviceHeader = "Static-Device";

export function shownDevice(c: ApiContext, deps: RouteDeps): string | undefined {
  return c.req.header(deviceHeader) ?? readCookie(c, deps, "static_device");
}

/** With an answer to a good password. */
export function giveDevice(c: ApiContext, deps: RouteDeps, device: Secret | undefined): void {
  if (device === undefined) return;
  if (!isBrowser(c)) c.header(deviceHeader, device.reveal());
  giveCookie(c, deps, { name: "static_device", value: device, lifetimeMs: deviceLifetimeMs });
}

/** A browser says where a request comes from, and no script can keep it from that. */
function isBrowser(c: ApiContext): boolean {
  return c.req.header("sec-fetch-site") !== undefined;
}
