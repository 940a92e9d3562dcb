package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// mostLines is the most lines of a batch.
const mostLines = 1000

// lineAnswer says what became of a line.
type lineAnswer struct {
	Line   int            `json:"line"`
	Result member.Outcome `json:"result"`
	// Problem is of a refused line.
	Problem *ProblemError `json:"problem,omitempty"`
}

// The results of a line that aren't outcomes of a record.
const (
	refused    member.Outcome = "refused"
	notWritten member.Outcome = "not_written"
)

// postBatch writes up to a thousand records, each for itself, or all or none.
func (h *handler) postBatch(r *request) (*reply, error) {
	atomic := false
	switch text := r.URL.Query().Get("atomic"); text {
	case "", "false":
	case "true":
		atomic = true
	default:
		return nil, invalidParameter("atomic", notAllowed(text, constError("allowed are true and false")))
	}
	lines := linesOf(r.body)
	if len(lines) > mostLines {
		return nil, tooLarge("Allowed are 1,000 lines; there are " + strconv.Itoa(len(lines)) + ".")
	}
	answers := make([]lineAnswer, len(lines))
	records := make([]member.Record, 0, len(lines))
	of := make([]int, 0, len(lines)) // the places of records among the lines
	for i, line := range lines {
		answers[i].Line = i + 1
		rec, err := h.reader.Line(line)
		if err != nil {
			answers[i].refuse(err)
			continue
		}
		records, of = append(records, rec), append(of, i)
	}
	whole := len(records) == len(lines)
	if whole || !atomic {
		if err := h.price(r.Context(), records); err != nil {
			return nil, err
		}
		applied, written, err := h.Registry.Apply(r.Context(), records, atomic, h.Now().Unix())
		if err != nil {
			return nil, err
		}
		tell(answers, of, applied)
		whole = written
	}
	if atomic && !whole {
		for i := range answers {
			if answers[i].Problem == nil {
				answers[i].Result = notWritten
			}
		}
	}
	return answerLines(answers, atomic && !whole)
}

func tell(answers []lineAnswer, of []int, applied []social.Applied) {
	for i, a := range applied {
		if a.Err != nil {
			answers[of[i]].refuse(a.Err)
			continue
		}
		answers[of[i]].Result = a.Outcome
	}
}

func (a *lineAnswer) refuse(err error) {
	p := asProblem(err)
	if p == nil { // a record has no other errors
		p = problem(http.StatusInternalServerError, "internal", "Internal error", "")
	}
	a.Result, a.Problem = refused, p
}

// answerLines has the status 409 where one line kept all of them from being written.
func answerLines(answers []lineAnswer, kept bool) (*reply, error) {
	var out bytes.Buffer
	var errs []error
	isForNow := false
	for i := range answers {
		isForNow = isForNow || answers[i].Problem != nil && answers[i].Problem.isForNow()
		errs = append(errs, json.NewEncoder(&out).Encode(&answers[i]))
	}
	status := http.StatusOK
	if kept {
		status = http.StatusConflict
	}
	return &reply{status: status, media: ndjsonMedia, body: out.Bytes(), isForNow: isForNow}, errors.Join(errs...)
}

// linesOf are the lines of a body; an empty last one is none.
func linesOf(body []byte) (lines [][]byte) {
	for line := range bytes.Lines(body) {
		lines = append(lines, bytes.TrimRight(line, "\r\n"))
	}
	return lines
}
