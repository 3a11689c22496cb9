-- States of accounts, kinds of keys, sessions of the console, codes by mail. See docs/accounts.md.

ALTER TABLE accounts
  ALTER COLUMN email DROP NOT NULL,
  ALTER COLUMN email_key DROP NOT NULL,
  ALTER COLUMN password_hash DROP NOT NULL,
  ADD COLUMN email_verified_at timestamptz,
  -- Somebody else proved to own the address that this account carried.
  ADD COLUMN address_lost_at timestamptz,
  ADD COLUMN suspended_at timestamptz,
  ADD COLUMN deleted_at timestamptz,
  -- Of this account alone; NULL is the plan's.
  ADD COLUMN message_limit bigint CHECK (message_limit >= 0),
  ADD COLUMN version bigint NOT NULL DEFAULT 1,
  ADD CONSTRAINT accounts_address CHECK ((email IS NULL) = (email_key IS NULL)),
  -- Nothing that was somebody's outlives the account.
  ADD CONSTRAINT accounts_erased CHECK ((deleted_at IS NULL) = (password_hash IS NOT NULL)),
  ADD CONSTRAINT accounts_no_address CHECK (deleted_at IS NULL OR email IS NULL);

CREATE INDEX accounts_suspended ON accounts (suspended_at) WHERE suspended_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX accounts_deleted ON accounts (deleted_at) WHERE deleted_at IS NOT NULL;

ALTER TABLE api_keys
  ALTER COLUMN key_hash DROP NOT NULL,
  ADD COLUMN kind text NOT NULL DEFAULT 'secret' CHECK (kind IN ('secret', 'publishable', 'guest')),
  ADD COLUMN expires_at timestamptz,
  -- {"scopes": […], "channels": [{"pattern", "allow"}]}; NULL may do everything that its kind may.
  ADD COLUMN powers jsonb CHECK (jsonb_typeof(powers) = 'object'),
  ADD COLUMN channel_id text,
  -- Messages a month; NULL has no limit of its own.
  ADD COLUMN message_limit bigint CHECK (message_limit >= 0),
  -- The first key of its line of rotation, under which messages are counted; NULL is the key itself.
  ADD COLUMN counted_as uuid REFERENCES api_keys (id),
  ADD COLUMN replaced_by uuid REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
  ADD CONSTRAINT api_keys_erased CHECK (key_hash IS NOT NULL OR revoked_at IS NOT NULL),
  ADD CONSTRAINT api_keys_guest CHECK (
    kind <> 'guest' OR (channel_id IS NOT NULL AND expires_at IS NOT NULL AND message_limit IS NOT NULL));

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
