-- Keys that have expired leave the index of active ones (see api/store/expiry.ts), and what operators look for is found without
-- reading every row.

CREATE INDEX api_keys_expiring ON api_keys (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;
-- By its first characters, whatever the collation of the database.
CREATE INDEX api_keys_by_prefix ON api_keys (key_prefix text_pattern_ops);
CREATE INDEX accounts_by_age ON accounts (created_at DESC, id);
