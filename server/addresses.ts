/** Hosts and web origins, as configurations and requests name them. */

const loopbackOrigin = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/** No host at all is this machine too: a socket in the file system. */
export function isLoopback(host: string): boolean {
  return ["", "localhost", "::1", "[::1]"].includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether it is a number and no name: nobody's DNS can lead it elsewhere. */
export function isIpAddress(host: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) || /^\[?[\da-f:.]*:[\da-f:.]*\]?$/i.test(host);
}

/** A host as it stands in a URL. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** `https://app.example.com`, without a path. */
export function parseWebOrigin(text: string): string | undefined {
  return URL.parse(text)?.origin === text ? text : undefined;
}

/** Without configured origins this is a development machine: pages served from it may come. */
export function createOriginCheck(
  origins: readonly string[] | undefined,
): (origin: string) => boolean {
  if (origins === undefined) return (origin) => loopbackOrigin.test(origin);
  const allowed = new Set(origins);
  return (origin) => allowed.has(origin);
}
