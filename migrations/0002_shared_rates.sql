-- Rates that several processes share, at an edge: api/store/rates.ts. Unlogged: a server that
-- crashes forgets them, which is as if nobody had asked for anything yet, and nothing waits for a
-- disk. The key is a keyed hash, so that no address stands here.
CREATE UNLOGGED TABLE rate_buckets (
  key   text PRIMARY KEY,
  -- What was taken and has not come back, at this time.
  spent double precision NOT NULL,
  at    timestamptz NOT NULL,
  -- Full again by then. In hours, so that most takings change no index.
  until timestamptz NOT NULL,
  age   bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 70);
CREATE INDEX rate_buckets_until ON rate_buckets (until);
CREATE INDEX rate_buckets_age ON rate_buckets (age);

-- Locks a bucket, and returns what is spent of it now. The oldest buckets make room for new ones.
CREATE FUNCTION rate_spent(bucket text, per_second double precision, most bigint)
RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
  found_spent double precision;
  found_at    timestamptz;
  newest      bigint;
BEGIN
  SELECT spent, at INTO found_spent, found_at FROM rate_buckets WHERE key = bucket FOR UPDATE;
  IF FOUND THEN
    -- A clock that was set back brings nothing back.
    RETURN greatest(0, found_spent -
      per_second * greatest(0, extract(epoch FROM clock_timestamp() - found_at)::double precision));
  END IF;
  INSERT INTO rate_buckets (key, spent, at, until) VALUES (bucket, 0, clock_timestamp(), clock_timestamp())
    ON CONFLICT DO NOTHING RETURNING age INTO newest;
  -- Another process was faster.
  IF newest IS NULL THEN RETURN rate_spent(bucket, per_second, most); END IF;
  DELETE FROM rate_buckets WHERE age IN (
    SELECT age FROM rate_buckets WHERE age <= newest - most ORDER BY age LIMIT 4 FOR UPDATE SKIP LOCKED);
  RETURN 0;
END $$;

CREATE FUNCTION rate_add(bucket text, spent_now double precision, per_second double precision)
RETURNS void LANGUAGE sql AS $$
  UPDATE rate_buckets SET spent = spent_now + 1, at = clock_timestamp(),
    until = date_trunc('hour', clock_timestamp() + make_interval(secs => (spent_now + 1) / per_second)) + interval '2 hours'
  WHERE key = bucket
$$;

-- Takes one of a bucket and, if there is one, of the wider bucket around it: of both or of neither.
-- Returns what was spent before.
CREATE FUNCTION rate_take(
  bucket text, burst double precision, per_second double precision, kept double precision,
  wider text, wider_burst double precision, wider_per_second double precision, most bigint,
  OUT taken boolean, OUT spent double precision, OUT wider_spent double precision
) LANGUAGE plpgsql AS $$
BEGIN
  spent := rate_spent(bucket, per_second, most);
  wider_spent := CASE WHEN wider IS NULL THEN 0 ELSE rate_spent(wider, wider_per_second, most) END;
  taken := spent + least(1 + kept, burst) <= burst + 1e-6
    AND (wider IS NULL OR wider_spent + 1 <= wider_burst + 1e-6);
  IF NOT taken THEN RETURN; END IF;
  PERFORM rate_add(bucket, spent, per_second);
  IF wider IS NOT NULL THEN PERFORM rate_add(wider, wider_spent, wider_per_second); END IF;
END $$;
