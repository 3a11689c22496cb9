/** Cookies of the console: no script reads them, and no page of another site sends them. */
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Secret } from "../../server/mod.ts";
import type { ApiContext, RouteDeps } from "./context.ts";

export type CookieName = "static_session" | "static_device";

export function readCookie(c: ApiContext, deps: RouteDeps, name: CookieName): string | undefined {
  return getCookie(c, writtenAs(c, deps, name).name);
}

export function giveCookie(
  c: ApiContext,
  deps: RouteDeps,
  cookie: { readonly name: CookieName; readonly value: Secret; readonly lifetimeMs: number },
): void {
  const { name, secure } = writtenAs(c, deps, cookie.name);
  const maxAge = cookie.lifetimeMs / 1000;
  setCookie(c, name, cookie.value.reveal(), {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    secure,
    maxAge,
  });
}

export function takeCookieBack(c: ApiContext, deps: RouteDeps, cookie: CookieName): void {
  const { name, secure } = writtenAs(c, deps, cookie);
  deleteCookie(c, name, { path: "/", secure });
}

/** Over TLS: no other host of the domain and no page without TLS can set a cookie of this name. */
export function nameOverTls(cookie: CookieName): string {
  return `__Host-${cookie}`;
}

/** Where a platform listens, only the request knows whether it came over TLS. */
function writtenAs(
  c: ApiContext,
  { secureCookies }: RouteDeps,
  cookie: CookieName,
): { readonly name: string; readonly secure: boolean } {
  const secure = secureCookies || c.req.url.startsWith("https:");
  return { name: secure ? nameOverTls(cookie) : cookie, secure };
}
