-- +goose Up
-- True of pools that aren't among those of their base: nothing was ever in them, or 64 others are deeper. A binary of before, and an image
-- of before that a reorg puts back, say nothing of it: their pools are listed, as all were.
ALTER TABLE pools ADD COLUMN unlisted BOOLEAN DEFAULT FALSE;
-- What never had liquidity nor traded, as far as the rows tell.
UPDATE pools SET unlisted = TRUE
WHERE last_trade_at = 0 AND locked = 0 AND protocol <> 'BondingCurve' AND liquidity = {{nought}} AND (reserve0 = {{nought}} OR reserve1 = {{nought}})
    AND NOT EXISTS (SELECT 1 FROM pool_ticks k WHERE k.chain = pools.chain AND k.pool = pools.id)
    AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.chain = pools.chain AND t.mint = pools.base AND (t.pool = pools.id OR t.candidate = pools.id))
    AND NOT EXISTS (SELECT 1 FROM launches l WHERE l.chain = pools.chain AND l.mint = pools.base AND l.pool = pools.id);
-- What comes after the first 64 of a token.
UPDATE pools SET unlisted = TRUE WHERE (chain, id) IN (
    SELECT r.chain, r.id FROM (
        SELECT p.chain, p.id, ROW_NUMBER() OVER (
            PARTITION BY p.chain, p.base ORDER BY
                CASE WHEN p.id = t.pool OR p.id = t.candidate OR p.id = l.pool OR p.protocol = 'BondingCurve' THEN 0 ELSE 1 END,
                CASE WHEN p.untrusted = '' THEN 0 ELSE 1 END, p.depth * COALESCE(q.usd, 0) DESC, p.locked * COALESCE(q.usd, 0) DESC, p.id
        ) AS place
        FROM (SELECT chain, base FROM pools WHERE unlisted = FALSE GROUP BY chain, base HAVING COUNT(*) > 64) many
        JOIN pools p ON p.chain = many.chain AND p.base = many.base AND p.unlisted = FALSE
        LEFT JOIN tokens t ON t.chain = p.chain AND t.mint = p.base
        LEFT JOIN launches l ON l.chain = p.chain AND l.mint = p.base
        LEFT JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote
    ) r WHERE r.place > 64
);
