-- +goose Up
-- From here on former images have the names of tables and columns, and facts have keys of their own. A binary before this one would not
-- understand them: it could not take back a reorg, and would read facts as empty.
UPDATE schema_reader SET oldest = 9;
