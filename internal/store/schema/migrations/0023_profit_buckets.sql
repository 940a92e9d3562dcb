-- +goose Up
-- What all members together realised in stretches of time that no reorg reaches any more. They name nobody, and stay when members leave.
CREATE TABLE profit_buckets (
    -- Both in seconds.
    width    BIGINT NOT NULL,
    open_at  BIGINT NOT NULL,
    -- Decimal numbers of 1e-9 USD.
    realised TEXT NOT NULL,
    volume   TEXT NOT NULL,
    -- How many members sold, and how many sales and trades there were.
    members  BIGINT NOT NULL,
    sales    BIGINT NOT NULL,
    trades   BIGINT NOT NULL,
    PRIMARY KEY (width, open_at)
) {{clustered}};
