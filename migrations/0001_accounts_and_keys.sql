-- Accounts, their plans and API keys. Invariants live in the constraints; code only explains a violation.

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

CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  -- As it was typed; email_key decides whether two are the same.
  email text NOT NULL CHECK (char_length(email) <= 254),
  email_key text NOT NULL CONSTRAINT accounts_email_key UNIQUE,
  password_hash text NOT NULL CHECK (password_hash LIKE '$argon2id$%'),
  plan text NOT NULL DEFAULT 'free' REFERENCES plans (name),
  created_at timestamptz NOT NULL
);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  key_prefix text NOT NULL CONSTRAINT api_keys_key_prefix UNIQUE,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
  key_hash text NOT NULL CHECK (key_hash LIKE '$argon2id$%'),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  -- Soft delete: the record stays, so that a prefix is never given out twice and a log line can still be explained.
  revoked_at timestamptz
);

CREATE INDEX api_keys_active ON api_keys (account_id, created_at DESC, id) WHERE revoked_at IS NULL;
