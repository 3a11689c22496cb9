/** All that the domain needs of a database, in one. */
import type {
  AccountLifecycleStore,
  ExpiryStore,
  MailStore,
  SessionStore,
} from "./account_store.ts";
import type { AdminStore, AuditStore, ChangesStore } from "./admin_store.ts";
import type { BadgeStore } from "./badges.ts";
import type { RateStore } from "./rate_limit.ts";
import type { AccountStore, KeyStore, UsageStore } from "./deps.ts";

export interface Store
  extends
    AccountStore,
    AccountLifecycleStore,
    SessionStore,
    MailStore,
    ExpiryStore,
    KeyStore,
    BadgeStore,
    UsageStore,
    AdminStore,
    AuditStore,
    ChangesStore,
    RateStore {
  /**
   * Resolves when the database answers, otherwise throws `overloaded` with a cause that says why.
   */
  ping(): Promise<void>;
}
