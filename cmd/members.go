package cmd

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/members"
	"github.com/boardwalkhq/boardwalk/members/client"
)

const gameUsage = "YAML file with the rules of the members' game (docs/game.md); the default ones are used when it isn't given"

func membersCommand(build serve.Build) *cobra.Command {
	var ops operations
	var db database
	p := &members.Program{Now: now}
	cmd := &cobra.Command{
		Use: "members --tokens FILE --deployment URL", Short: "Run the intake, which the platform's app writes its members to", Args: cobra.NoArgs,
		Long: `Take members, their wallets and signs that they are present from the platform's app, over HTTP with bearer tokens (docs/intake.md), and
count who is present. The listener is for the app alone: the public must not reach it.

The file of tokens has the SHA-256 of one token a line, as printf %s "$TOKEN" | sha256sum writes it; it is read again when it changes, so
that a new token can stand beside the former one. Of several processes on one database one is active; the others aren't ready and
wait. On PostgreSQL the program makes no tables: boardwalk migrate --members ROLE gives its role the right to write those of members
alone.`,
		Example: "  boardwalk members --tokens tokens --deployment https://app.example.com",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if p.Log, err = ops.log(cmd); err != nil {
				return err
			}
			p.Database, p.Operations, p.Metrics = db.dsn(cmd), ops.OperationsOptions, newRegistry(build)
			return runTraced(cmd.Context(), build, telemetry.TracesOptions{
				Service: "boardwalk-members", Sampler: telemetry.SampleRatio, Ratio: telemetry.PublicRatio, Log: p.Log,
			}, p.Run)
		},
	}
	ops.register(cmd, "127.0.0.1:8084")
	db.register(cmd)
	f := cmd.Flags()
	f.StringVar(&p.Listen, "listen", "127.0.0.1:8090", "address of the intake")
	f.StringVar(&p.TokensFile, "tokens", "", "file with the SHA-256 of the tokens that callers present")
	f.StringVar(&p.GameFile, "game", "", gameUsage)
	f.StringVar(&p.API, "api", "", "address of the API server, as in http://127.0.0.1:8080, which is asked which launches pass the quality bar; without it the feed has no launches")
	f.StringVar(&p.Deployment, "deployment", "", "address of this deployment, as in https://app.example.com, which the texts name that wallets' owners sign")
	f.DurationVar(&p.SchemaDeadline, "wait-for-schema", 5*time.Minute, "how long to wait for the database and its schema before giving up")
	_ = cmd.MarkFlagRequired("tokens")
	_ = cmd.MarkFlagRequired("deployment")
	return cmd
}

// intakeClient are the flags of the commands that ask an intake.
type intakeClient struct{ address, tokenFile string }

func (c *intakeClient) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.address, "intake", "http://127.0.0.1:8090", "address of the intake")
	cmd.Flags().StringVar(&c.tokenFile, "token-file", "", "file with a token of the intake; BOARDWALK_INTAKE_TOKEN is used when the flag isn't given")
}

// answerTime is how long an intake may take to begin an answer.
const answerTime = time.Minute

var errNoToken = errors.New("no token: set BOARDWALK_INTAKE_TOKEN, or give --token-file")

// open makes the client. The token never stands among the flags, which other users of the machine see.
func (c *intakeClient) open() (*client.Client, error) {
	token := os.Getenv("BOARDWALK_INTAKE_TOKEN")
	if c.tokenFile != "" {
		raw, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
		token = strings.TrimSpace(string(raw))
	}
	if token == "" {
		return nil, errNoToken
	}
	return &client.Client{Address: c.address, Token: token, HTTP: &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: answerTime}}}, nil
}

func importCommand() *cobra.Command {
	var c intakeClient
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Write members and wallets from a file to the intake", Args: cobra.ExactArgs(1),
		Long: `Write the lines of a file, one record each as boardwalk export makes them (docs/intake.md), to a running intake. Each line that the intake
refuses is printed with the reason, and the others are written; then the command fails. What the intake has already stays as it is, so that
an import that broke off is run again. - is standard input.`,
		Example: "  boardwalk import members.ndjson --intake http://127.0.0.1:8090 --token-file token",
		RunE: func(cmd *cobra.Command, args []string) error {
			intake, err := c.open()
			if err != nil {
				return err
			}
			in, size := cmd.InOrStdin(), int64(0)
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer func() { _ = f.Close() }()
				info, err := f.Stat()
				if err != nil {
					return err
				}
				in, size = f, info.Size()
			}
			read, done := importProgress(cmd.ErrOrStderr(), size)
			sum, err := intake.Import(cmd.Context(), in, read, func(r client.Refused) {
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "line %d: %s\n", r.Line, r.Why)
			})
			done()
			if err != nil {
				return fmt.Errorf("after %d lines: %w", sum.Lines, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d lines: %d written, %d unchanged, %d older, %d refused\n",
				sum.Lines, sum.Written, sum.Unchanged, sum.Older, sum.Refused)
			if err == nil && sum.Refused > 0 {
				err = fmt.Errorf("%d of %d lines were refused: see above", sum.Refused, sum.Lines)
			}
			return err
		},
	}
	c.register(cmd)
	return cmd
}

// importProgress shows how much of a file of a size is done: a bar on a terminal, a line every few seconds elsewhere.
func importProgress(w io.Writer, size int64) (read func(int64), done func()) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && size > 0 {
		bars := mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))
		bar := bars.AddBar(size, mpb.PrependDecorators(decor.Name("import ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name("  ETA "), decor.AverageETA(decor.ET_STYLE_GO)))
		return bar.SetCurrent, func() {
			bar.Abort(false)
			bars.Shutdown()
		}
	}
	began := now()
	said := began
	return func(n int64) {
		t := now()
		if t.Sub(said) < logEvery || size == 0 {
			return
		}
		said = t
		left := time.Duration(float64(t.Sub(began)) * float64(size-n) / float64(max(n, 1)))
		_, _ = fmt.Fprintf(w, "import: %.1f %%, %s left\n", 100*float64(n)/float64(size), left.Round(time.Second))
	}, func() {}
}

func exportCommand() *cobra.Command {
	var c intakeClient
	cmd := &cobra.Command{
		Use: "export", Short: "Write all members and wallets of an intake to standard output", Args: cobra.NoArgs,
		Long: `Write all members and their wallets as lines that boardwalk import reads, with the texts that the wallets' owners signed. The database of a
deployment is moved with it; at another deployment the wallets count as attested.`,
		Example: "  boardwalk export --token-file token > members.ndjson",
		RunE: func(cmd *cobra.Command, _ []string) error {
			intake, err := c.open()
			if err != nil {
				return err
			}
			return intake.Export(cmd.Context(), cmd.OutOrStdout())
		},
	}
	c.register(cmd)
	return cmd
}
