package contracttest

import (
	"errors"
	"fmt"

	pb33f "github.com/pb33f/libopenapi-validator/errors"
)

// joinFindings keeps what the summary of a finding leaves out: which member of the body it is about.
func joinFindings(findings []*pb33f.ValidationError) error {
	var all []error
	for _, finding := range findings {
		all = append(all, fmt.Errorf("%s: %s", finding.Message, finding.Reason))
		for _, detail := range finding.SchemaValidationErrors {
			all = append(all, fmt.Errorf("  %s: %s", detail.FieldPath, detail.Reason))
		}
	}
	return errors.Join(all...)
}
