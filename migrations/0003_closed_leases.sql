-- A lease is kept for a day after it was closed, for reports that are repeated, and then deleted: relays take one per account
-- and minute, so the table would grow for ever.

CREATE INDEX leases_closed ON leases (closed_at) WHERE closed_at IS NOT NULL;
