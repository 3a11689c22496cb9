/** Which routes there are: for everybody, and for relays. */
import { addOwnAccountRoutes } from "./routes/account.ts";
import { addAccountRoutes } from "./routes/accounts.ts";
import { addAddressClaimRoutes } from "./routes/address_claims.ts";
import { addBadgeRoutes } from "./routes/badges.ts";
import { addChangesRoutes } from "./routes/relays/changes.ts";
import { addConsoleRoutes, type ConsoleDeps } from "./routes/console.ts";
import type { RouteDeps } from "./routes/context.ts";
import { addDiscoveryRoutes } from "./routes/discovery.ts";
import { addDocumentationRoutes } from "./routes/documentation/documentation.ts";
import { addJoinPageRoutes } from "./routes/join_page.ts";
import { addKeyRoutes } from "./routes/keys.ts";
import { addLeaseRoutes } from "./routes/relays/leases.ts";
import type { Router } from "./routes/operation.ts";
import { addOwnHistoryRoutes } from "./routes/own_history.ts";
import { addSessionRoutes } from "./routes/sessions.ts";
import { addTokenRoutes } from "./routes/tokens.ts";
import { addUsageRoutes } from "./routes/usage.ts";

export function addPublicRoutes(
  router: Router,
  deps: RouteDeps & Pick<ConsoleDeps, "consoleFiles">,
): void {
  addAccountRoutes(router, deps);
  addKeyRoutes(router, deps);
  addTokenRoutes(router, deps);
  addBadgeRoutes(router, deps);
  addUsageRoutes(router, deps);
  addOwnAccountRoutes(router, deps);
  addOwnHistoryRoutes(router, deps);
  addAddressClaimRoutes(router, deps);
  addSessionRoutes(router, deps);
  addDiscoveryRoutes(router, deps);
  addDocumentationRoutes(router, deps);
  addJoinPageRoutes(router, deps);
  addConsoleRoutes(router, deps);
}

/** No public port serves them. */
export function addRelaysRoutes(router: Router, deps: RouteDeps): void {
  addLeaseRoutes(router, deps);
  addChangesRoutes(router, deps);
}
