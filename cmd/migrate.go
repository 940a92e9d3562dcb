package cmd

import (
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/internal/store/schema"
)

func migrateCommand() *cobra.Command {
	var db database
	var log logging
	var try bool
	m := &schema.Migration{Now: now}
	cmd := &cobra.Command{
		Use: "migrate [--reader ROLE] [--members ROLE]", Short: "Bring the database's schema up to date, and end", Args: cobra.NoArgs,
		Long: `Make the tables that this version needs, or change those of an older one, as the owner of the database. Indexers do the same when
they start; the API server on PostgreSQL doesn't, and waits.

With --reader, a PostgreSQL role that exists is given the right to read all of these tables, those of later versions too: give the API
server that role's address. Where the owner may not give it, or there is no such role, the SQL for an administrator is written to
standard output, and the command fails. With --members, the same for the role of boardwalk members, which may write the tables of members
besides.

With --try nothing is changed: the command succeeds if an indexer of this version could work with the database, and says else what is wrong with the
address, the schema or the role. The operator has it run before it changes indexers that run.`,
		Example: "  BOARDWALK_DB=postgres://owner:…@db/boardwalk boardwalk migrate --reader boardwalk_reader",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if m.Log, err = log.log(cmd); err != nil {
				return err
			}
			if try {
				return schema.Try(cmd.Context(), db.dsn(cmd))
			}
			m.Database, m.Out = db.dsn(cmd), cmd.OutOrStdout()
			return m.Run(cmd.Context())
		},
	}
	log.register(cmd)
	db.register(cmd)
	cmd.Flags().StringVar(&m.Reader, "reader", "", "PostgreSQL role that is given the right to read; it has to exist, and may not have the right to write")
	cmd.Flags().StringVar(&m.Members, "members", "", "PostgreSQL role that is given the right to read, and to write the tables of members alone; it has to exist")
	cmd.Flags().BoolVar(&try, "try", false, "change nothing, and say whether an indexer could work with the database")
	cmd.MarkFlagsMutuallyExclusive("try", "reader")
	cmd.MarkFlagsMutuallyExclusive("try", "members")
	return cmd
}
