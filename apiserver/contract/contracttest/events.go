package contracttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

const (
	eventStream = "text/event-stream"
	// eventsAs is the path whose answer the data of each event is.
	eventsAs = "/api/live/since"
)

// isStream reports whether the answer is a stream of events, which no cache keeps.
func (r *reply) isStream() bool {
	media, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	return r.status == http.StatusOK && media == eventStream
}

// checkEvents holds the events of a stream to their form, and the data of each to the answer of the operation that it is of.
func (k *Kit) checkEvents(r *reply) error {
	if !r.isStream() || r.bodiless {
		return nil
	}
	if !bytes.HasSuffix(r.body, []byte("\n\n")) {
		return errors.New("it ends within an event")
	}
	var found []error
	for event := range strings.SplitSeq(strings.TrimSuffix(string(r.body), "\n\n"), "\n\n") {
		id, data := "", ""
		for line := range strings.SplitSeq(event, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "id":
				id = value
			case "data":
				data = value
			case "retry", ":":
			default:
				found = append(found, fmt.Errorf("a line begins with %q", name))
			}
		}
		if (id == "") != (data == "") {
			found = append(found, fmt.Errorf("an event has the id %q and %d bytes of data", id, len(data)))
		}
		if data != "" {
			found = append(found, k.verifyEvent(data))
		}
	}
	return errors.Join(found...)
}

func (k *Kit) verifyEvent(data string) error {
	response := k.doc.Paths.Value(eventsAs).Get.Responses.Status(http.StatusOK).Value
	as := &reply{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(data)}
	schema := response.Content.Get("application/json").Schema.Value
	var value any
	if err := json.Unmarshal([]byte(data), &value); err != nil {
		return err
	}
	return errors.Join(schema.VisitJSON(value), checkFigures(response, as), undeclared(response, as))
}
