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
