-- Messages by key, where a key has a limit or powers of its own, and by day.

ALTER TABLE leases ADD COLUMN key_id uuid REFERENCES api_keys (id);

-- As `usage`, for one key. Locked after the account's row.
CREATE TABLE key_usage (
  key_id uuid NOT NULL REFERENCES api_keys (id),
  period_start timestamptz NOT NULL,
  claimed bigint NOT NULL DEFAULT 0 CHECK (claimed >= 0),
  used bigint NOT NULL DEFAULT 0 CHECK (used >= 0 AND used <= claimed),
  PRIMARY KEY (key_id, period_start)
);

-- The day on which the lease was granted, UTC, so that the days of a month add up to it.
CREATE TABLE usage_days (
  account_id uuid NOT NULL REFERENCES accounts (id),
  day date NOT NULL,
  -- Zero for all keys that are not counted apart.
  key_id uuid NOT NULL,
  used bigint NOT NULL CHECK (used >= 0),
  payload_bytes bigint NOT NULL CHECK (payload_bytes >= 0),
  padding_bytes bigint NOT NULL CHECK (padding_bytes >= 0),
  cover_bytes bigint NOT NULL CHECK (cover_bytes >= 0),
  PRIMARY KEY (account_id, day, key_id)
);

-- Nobody knows the days of what was counted before: it stands on the first of its month.
INSERT INTO usage_days (account_id, day, key_id, used, payload_bytes, padding_bytes, cover_bytes)
SELECT account_id, (period_start AT TIME ZONE 'UTC')::date, '00000000-0000-0000-0000-000000000000', used, payload_bytes,
       padding_bytes, cover_bytes
FROM usage;
