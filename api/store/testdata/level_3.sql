CREATE TABLE public.accounts (
    id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    password_hash text NOT NULL,
    plan text DEFAULT 'free'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT accounts_email_check CHECK ((char_length(email) <= 254)),
    CONSTRAINT accounts_password_hash_check CHECK ((password_hash ~~ '$argon2id$%'::text))
);
CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    key_prefix text NOT NULL,
    name text NOT NULL,
    key_hash text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_keys_key_hash_check CHECK ((key_hash ~~ '$argon2id$%'::text)),
    CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 64)))
);
CREATE TABLE public.leases (
    id uuid NOT NULL,
    nonce uuid NOT NULL,
    fence bigint NOT NULL,
    relay_id text NOT NULL,
    account_id uuid NOT NULL,
    period_start timestamp with time zone NOT NULL,
    granted bigint NOT NULL,
    consumed bigint DEFAULT 0 NOT NULL,
    payload_bytes bigint DEFAULT 0 NOT NULL,
    padding_bytes bigint DEFAULT 0 NOT NULL,
    cover_bytes bigint DEFAULT 0 NOT NULL,
    granted_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    CONSTRAINT leases_check CHECK (((consumed >= 0) AND (consumed <= granted))),
    CONSTRAINT leases_granted_check CHECK ((granted >= 0))
);
ALTER TABLE public.leases ALTER COLUMN fence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.leases_fence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.plans (
    name text NOT NULL,
    message_limit bigint,
    CONSTRAINT plans_message_limit_check CHECK ((message_limit >= 0))
);
CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE public.usage (
    account_id uuid NOT NULL,
    period_start timestamp with time zone NOT NULL,
    claimed bigint NOT NULL,
    used bigint DEFAULT 0 NOT NULL,
    payload_bytes bigint DEFAULT 0 NOT NULL,
    padding_bytes bigint DEFAULT 0 NOT NULL,
    cover_bytes bigint DEFAULT 0 NOT NULL,
    last_granted bigint NOT NULL,
    CONSTRAINT usage_check CHECK (((used >= 0) AND (used <= claimed))),
    CONSTRAINT usage_claimed_check CHECK ((claimed >= 0)),
    CONSTRAINT usage_cover_bytes_check CHECK ((cover_bytes >= 0)),
    CONSTRAINT usage_last_granted_check CHECK ((last_granted >= 0)),
    CONSTRAINT usage_padding_bytes_check CHECK ((padding_bytes >= 0)),
    CONSTRAINT usage_payload_bytes_check CHECK ((payload_bytes >= 0))
);
INSERT INTO public.accounts VALUES ('983ad1b1-d421-472b-9f58-94166e3e9536', 'Anna@Example.com', 'anna@example.com', '$argon2id$v=19$m=64,t=1,p=1$oqLtr+biglStheY0ZFCVzA$0/lKA0GZ3TU8wEH6hRSJu+WgN4imFtvJRl9+WpBwsLU', 'free', '2026-11-15 20:02:33.632+00');
INSERT INTO public.accounts VALUES ('e06a4cae-99fc-4fdc-9ebc-0343d12875a4', 'bob@example.com', 'bob@example.com', '$argon2id$v=19$m=64,t=1,p=1$4iYhLjYqDjpDMZjGsAQU4Q$meDVtkXC5blGj9TSx6WSqJUiF+9h/B8FKbh7WDqLUIk', 'free', '2026-11-15 20:02:33.779+00');
INSERT INTO public.api_keys VALUES ('11b140a4-ea39-400c-819f-56cb0e55b590', 'e06a4cae-99fc-4fdc-9ebc-0343d12875a4', 'sk_live_J1ublGwe', 'default', '$argon2id$v=19$m=64,t=1,p=1$eU5y8BkMT65KiWNr9QfNwA$MatXMOYYeEVt0yrprLkdSb2fVeXRKEGURtHsyArWmMU', '2026-11-15 20:02:33.785+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('8ac59f81-e344-48a4-afcf-5d133287fd3a', '983ad1b1-d421-472b-9f58-94166e3e9536', 'sk_live_qs3hMJYT', 'ci', '$argon2id$v=19$m=64,t=1,p=1$TTIpvqJUVYtqlqcrxtQRsQ$xQD6XB1BO7IQAKHAkwOpxs7xJ7Ve/MuIk1EzByBWq6M', '2026-11-15 20:02:33.819+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('993734ad-a582-419e-bd4a-238a8254737f', '983ad1b1-d421-472b-9f58-94166e3e9536', 'sk_live_enLoXX2d', 'gone', '$argon2id$v=19$m=64,t=1,p=1$M/41nLQ5h6hN9PtKMlu5fQ$e/yMwclcNVPD7sDfNWXZHz7wufbpViXBIBLY6ucgZnA', '2026-11-15 20:02:33.834+00', NULL, '2026-11-15 20:02:33.839+00');
INSERT INTO public.api_keys VALUES ('1f0ee023-fc20-4673-8bf8-8b4e431dd2a7', '983ad1b1-d421-472b-9f58-94166e3e9536', 'sk_live_63Evthz0', 'default', '$argon2id$v=19$m=64,t=1,p=1$+q5UlCJUfLdDMPf9I7dAzQ$KM3A+wnhufV79Br0DGw7WWIESTt1ScHcDVpf9cb/BLo', '2026-11-15 20:02:33.743+00', '2026-11-15 20:02:34.47+00', NULL);
INSERT INTO public.leases OVERRIDING SYSTEM VALUE VALUES ('ed7ce65e-234f-40fb-b2f2-7e26caaa927e', '0b73933f-1911-4add-abc5-2f897a474c0f', 2, 'relay-1', 'e06a4cae-99fc-4fdc-9ebc-0343d12875a4', '2026-11-01 00:00:00+00', 40, 0, 0, 0, 0, '2026-11-15 20:02:33.858+00', '2026-11-15 20:07:33.858+00', NULL);
INSERT INTO public.leases OVERRIDING SYSTEM VALUE VALUES ('da13d956-455f-46dc-9af9-6deff2626b42', '31edef31-06ad-41bf-b4c1-ff0c4ed35617', 1, 'relay-1', '983ad1b1-d421-472b-9f58-94166e3e9536', '2026-11-01 00:00:00+00', 500, 123, 1000, 2000, 300, '2026-11-15 20:02:33.853+00', '2026-11-15 20:07:33.853+00', '2026-11-15 20:02:33.866+00');
INSERT INTO public.leases OVERRIDING SYSTEM VALUE VALUES ('cdaf0049-4b54-4f8b-a5e3-3e80455411b0', '581a96a6-662c-40ec-9c89-479e576dc3e2', 3, 'relay-1', '983ad1b1-d421-472b-9f58-94166e3e9536', '2026-11-01 00:00:00+00', 100, 7, 70, 0, 0, '2026-11-15 20:02:33.878+00', '2026-11-15 20:07:33.878+00', NULL);
INSERT INTO public.plans VALUES ('free', 10000);
INSERT INTO public.plans VALUES ('dev', 500000);
INSERT INTO public.plans VALUES ('team', 5000000);
INSERT INTO public.plans VALUES ('enterprise', NULL);
INSERT INTO public.schema_migrations VALUES (1, '0001_accounts_and_keys.sql', '7fe410be23a17ad474084a7befd8fe43c38a8252d52759a8fa6efb5c3c5c12f5', '2026-11-15 20:02:33.361595+00');
INSERT INTO public.schema_migrations VALUES (2, '0002_usage_and_leases.sql', '72f34c6047e361d5f997c43e20628060b89c545d3e8f1b08092db3c6d70301bf', '2026-11-15 20:02:33.361595+00');
INSERT INTO public.schema_migrations VALUES (3, '0003_closed_leases.sql', '7a98d3aaecc2382dc0684651fb31e0d4a4b1402f090f079df3da3c145fd918bf', '2026-11-15 20:02:33.361595+00');
INSERT INTO public.usage VALUES ('e06a4cae-99fc-4fdc-9ebc-0343d12875a4', '2026-11-01 00:00:00+00', 40, 0, 0, 0, 0, 40);
INSERT INTO public.usage VALUES ('983ad1b1-d421-472b-9f58-94166e3e9536', '2026-11-01 00:00:00+00', 223, 130, 1070, 2000, 300, 100);
SELECT pg_catalog.setval('public.leases_fence_seq', 3, true);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_email_key UNIQUE (email_key);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_prefix UNIQUE (key_prefix);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_fence_key UNIQUE (fence);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_nonce UNIQUE (nonce);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (account_id, period_start);
CREATE INDEX api_keys_active ON public.api_keys USING btree (account_id, created_at DESC, id) WHERE (revoked_at IS NULL);
CREATE INDEX leases_closed ON public.leases USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX leases_open_by_account ON public.leases USING btree (account_id, period_start) WHERE (closed_at IS NULL);
CREATE INDEX leases_open_by_relay ON public.leases USING btree (relay_id, granted_at) WHERE (closed_at IS NULL);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_plan_fkey FOREIGN KEY (plan) REFERENCES public.plans(name);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_account_id_period_start_fkey FOREIGN KEY (account_id, period_start) REFERENCES public.usage(account_id, period_start);
ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
