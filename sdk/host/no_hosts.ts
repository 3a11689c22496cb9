/**
 * In the place of `connect_host.ts` in browsers, which have no hosts: so that a page does not load
 * what it cannot use.
 */
import { invalidArgument } from "../base/errors.ts";

/** Rejects. */
export function connectHost(): Promise<never> {
  return Promise.reject(
    invalidArgument('There are no hosts in browsers; connect without host: "auto"'),
  );
}
