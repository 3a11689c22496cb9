-- The database of the API. Invariants live in the constraints; code only explains a violation.

CREATE TABLE plans (
  name text PRIMARY KEY,
  -- Messages per calendar month (UTC); NULL is unlimited.
  message_limit bigint CHECK (message_limit >= 0)
);

INSERT INTO plans (name, message_limit) VALUES
  ('free', 10000),
  ('dev', 500000),
  ('team', 5000000),
  ('enterprise', NULL);

-- Accounts and their states. See docs/accounts.md.

CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  -- As it was typed; email_key decides whether two are the same.
  email text CHECK (char_length(email) <= 254),
  email_key text CONSTRAINT accounts_email_key UNIQUE,
  password_hash text CHECK (password_hash LIKE '$argon2id$%'),
  plan text NOT NULL DEFAULT 'free' REFERENCES plans (name),
  created_at timestamptz NOT NULL,
  email_verified_at timestamptz,
  -- Somebody else proved to own the address that this account carried.
  address_lost_at timestamptz,
  suspended_at timestamptz,
  deleted_at timestamptz,
  -- Of this account alone; NULL is the plan's.
  message_limit bigint CHECK (message_limit >= 0),
  version bigint NOT NULL DEFAULT 1,
  CONSTRAINT accounts_address CHECK ((email IS NULL) = (email_key IS NULL)),
  -- Nothing that was somebody's outlives the account.
  CONSTRAINT accounts_erased CHECK ((deleted_at IS NULL) = (password_hash IS NOT NULL)),
  CONSTRAINT accounts_no_address CHECK (deleted_at IS NULL OR email IS NULL)
);

CREATE INDEX accounts_suspended ON accounts (suspended_at) WHERE suspended_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX accounts_deleted ON accounts (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX accounts_by_age ON accounts (created_at DESC, id);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  key_prefix text NOT NULL CONSTRAINT api_keys_key_prefix UNIQUE,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
  key_hash text CHECK (key_hash LIKE '$argon2id$%'),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  -- Soft delete: the record stays, so that a prefix is never given out twice and a log line can still be explained.
  revoked_at timestamptz,
  kind text NOT NULL DEFAULT 'secret' CHECK (kind IN ('secret', 'publishable', 'guest')),
  expires_at timestamptz,
  -- {"scopes": […], "channels": [{"pattern", "allow"}]}; NULL may do everything that its kind may.
  powers jsonb CHECK (jsonb_typeof(powers) = 'object'),
  channel_id text,
  -- Messages a month; NULL has no limit of its own.
  message_limit bigint CHECK (message_limit >= 0),
  -- The first key of its line of rotation, under which messages are counted; NULL is the key itself.
  counted_as uuid REFERENCES api_keys (id),
  replaced_by uuid REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT api_keys_erased CHECK (key_hash IS NOT NULL OR revoked_at IS NOT NULL),
  CONSTRAINT api_keys_guest CHECK (
    kind <> 'guest' OR (channel_id IS NOT NULL AND expires_at IS NOT NULL AND message_limit IS NOT NULL))
);

CREATE INDEX api_keys_active ON api_keys (account_id, created_at DESC, id) WHERE revoked_at IS NULL;
-- Keys that have expired leave the index of active ones (see api/store/expiry.ts).
CREATE INDEX api_keys_expiring ON api_keys (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;
-- By its first characters, whatever the collation of the database.
CREATE INDEX api_keys_by_prefix ON api_keys (key_prefix text_pattern_ops);

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
  -- Where a key has a limit or powers of its own.
  key_id uuid REFERENCES api_keys (id),
  FOREIGN KEY (account_id, period_start) REFERENCES usage (account_id, period_start)
);

CREATE INDEX leases_open_by_relay ON leases (relay_id, granted_at) WHERE closed_at IS NULL;
CREATE INDEX leases_open_by_account ON leases (account_id, period_start) WHERE closed_at IS NULL;
-- A lease is kept for a day after it was closed, for reports that are repeated, and then deleted: relays take one per account
-- and minute, so the table would grow for ever.
CREATE INDEX leases_closed ON leases (closed_at) WHERE closed_at IS NOT NULL;

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

-- Of each agent the latest badge that the service issued it, until it has expired.
CREATE TABLE badges (
  account_id uuid NOT NULL REFERENCES accounts (id),
  agent_id text NOT NULL CHECK (char_length(agent_id) = 22),
  badge bytea NOT NULL CHECK (octet_length(badge) <= 512),
  -- Of the account's address, if the badge names it.
  mail_domain text,
  -- NULL where a session asked for it.
  key_id uuid REFERENCES api_keys (id),
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, agent_id)
);

CREATE INDEX badges_expired ON badges (expires_at);

-- Sessions of the console.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  -- SHA-256 of the cookie's 256 random bits.
  secret_hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz
);

CREATE INDEX sessions_open ON sessions (account_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_expired ON sessions (expires_at);

-- Codes by mail.
CREATE TABLE mail_codes (
  id uuid PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('verify', 'change', 'reset', 'claim')),
  email text NOT NULL,
  email_key text NOT NULL,
  -- NULL for a claim, which is about an address and no account.
  account_id uuid REFERENCES accounts (id),
  -- SHA-256 of 60 random bits.
  code_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE INDEX mail_codes_waiting ON mail_codes (email_key, purpose);
CREATE INDEX mail_codes_account ON mail_codes (account_id);
CREATE INDEX mail_codes_expired ON mail_codes (expires_at);

-- Messages on their way. A row goes when its message was sent, or when its code is worthless.
CREATE TABLE mail_queue (
  id uuid PRIMARY KEY,
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  account_id uuid,
  attempts int NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE INDEX mail_queue_due ON mail_queue (next_attempt_at);

-- What happened to accounts, keys and sessions: one row for each change, written in the change's own transaction.
-- hash = SHA-256(hash of the row before || body). Numbers have no gaps, and their order is the order of commits, because
-- everybody who adds a row holds the one row of audit_head until its transaction ends. It is the last lock that is taken.

CREATE TABLE audit_events (
  seq bigint PRIMARY KEY,
  event text NOT NULL,
  account_id uuid,
  -- JSON: [seq, time, event, actor, account, subject, details]. The truth; the columns beside it are for finding it.
  body text NOT NULL,
  hash bytea NOT NULL
);

CREATE INDEX audit_events_account ON audit_events (account_id, seq);
-- What relays follow.
CREATE INDEX audit_events_changes ON audit_events (seq) WHERE event IN (
  'account.suspended', 'account.resumed', 'account.deleted', 'account.plan_set', 'account.limit_set', 'plan.limit_set');

CREATE TABLE audit_head (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  seq bigint NOT NULL,
  hash bytea NOT NULL
);

INSERT INTO audit_head (seq, hash) VALUES (0, decode(repeat('00', 32), 'hex'));

CREATE FUNCTION audit_append(
  at timestamptz, event text, actor text, account uuid, subject uuid, details jsonb DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  before audit_head;
  body text;
  digest bytea;
BEGIN
  SELECT * INTO STRICT before FROM audit_head FOR UPDATE;
  body := jsonb_build_array(before.seq + 1, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), event, actor,
                            account, subject, details)::text;
  digest := sha256(before.hash || convert_to(body, 'UTF8'));
  INSERT INTO audit_events VALUES (before.seq + 1, event, account, body, digest);
  UPDATE audit_head SET seq = before.seq + 1, hash = digest;
  RETURN before.seq + 1;
END $$;

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit_events is append-only';
END $$;

CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
