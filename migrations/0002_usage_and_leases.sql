-- Metering. `claimed` is what the limit is checked against: everything leased and not given back. `used` is what relays have
-- reported. A lease that was never closed and has expired counts as used in full; see the reading query.

CREATE TABLE usage (
  account_id uuid NOT NULL REFERENCES accounts (id),
  period_start timestamptz NOT NULL,
  claimed bigint NOT NULL CHECK (claimed >= 0),
  used bigint NOT NULL DEFAULT 0 CHECK (used >= 0 AND used <= claimed),
  payload_bytes bigint NOT NULL DEFAULT 0 CHECK (payload_bytes >= 0),
  padding_bytes bigint NOT NULL DEFAULT 0 CHECK (padding_bytes >= 0),
  cover_bytes bigint NOT NULL DEFAULT 0 CHECK (cover_bytes >= 0),
  -- What the latest lease was granted: how one statement both takes and tells.
  last_granted bigint NOT NULL CHECK (last_granted >= 0),
  PRIMARY KEY (account_id, period_start)
);

CREATE TABLE leases (
  id uuid PRIMARY KEY,
  nonce uuid NOT NULL CONSTRAINT leases_nonce UNIQUE,
  -- Taken while the account's usage row is locked, so it grows from lease to lease of an account.
  fence bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  relay_id text NOT NULL,
  account_id uuid NOT NULL,
  period_start timestamptz NOT NULL,
  granted bigint NOT NULL CHECK (granted >= 0),
  consumed bigint NOT NULL DEFAULT 0 CHECK (consumed BETWEEN 0 AND granted),
  payload_bytes bigint NOT NULL DEFAULT 0,
  padding_bytes bigint NOT NULL DEFAULT 0,
  cover_bytes bigint NOT NULL DEFAULT 0,
  granted_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  closed_at timestamptz,
  FOREIGN KEY (account_id, period_start) REFERENCES usage (account_id, period_start)
);

CREATE INDEX leases_open_by_relay ON leases (relay_id, granted_at) WHERE closed_at IS NULL;
CREATE INDEX leases_open_by_account ON leases (account_id, period_start) WHERE closed_at IS NULL;
